"""tf.test.TestCase: unittest's TestCase with assertions about tensors and arrays."""

# ruff: noqa: N802 - assertions follow unittest's naming, and call unittest's own

from __future__ import annotations

import contextlib
import random
import tempfile
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gradtape.core import nest
from gradtape.tf.random.stateful import set_seed
from gradtape.tf.test.array_comparison import to_numpy_value
from gradtape.tf.test.tensor_assertion import TensorAssertions

TEST_SEED = 87654321


class TestCase(TensorAssertions):
    """A unittest.TestCase that compares tensors; each test starts with the same random seeds.

    Example:
        >>> class SquareTest(tf.test.TestCase):
        ...     def test_square(self):
        ...         self.assertAllClose(tf.square([1.0, 2.0]), [1.0, 4.0])
    """

    _directory: str | None = None

    def setUp(self) -> None:
        """Seed the random generators of Python, NumPy and gradtape.

        Returns:
            None.
        """
        super().setUp()
        random.seed(TEST_SEED)
        np.random.seed(TEST_SEED)  # noqa: NPY002 - the tests use the global generator
        set_seed(TEST_SEED)

    def evaluate(self, tensors: Any) -> Any:
        """NumPy values of a structure of tensors.

        Args:
            tensors: a structure of tensors.

        Returns:
            A structure of arrays.
        """
        return nest.map_structure(to_numpy_value, tensors, expand_composites=True)

    def evaluate_if_both_tensors(self, a: Any, b: Any) -> tuple[Any, Any]:
        """NumPy values of two tensors; other values unchanged.

        Args:
            a: a value that converts to an array.
            b: another one.

        Returns:
            A pair.
        """
        both = all(hasattr(t, "numpy") for t in (a, b))
        return (to_numpy_value(a), to_numpy_value(b)) if both else (a, b)

    def get_temp_dir(self) -> str:
        """A temporary directory that exists while the test runs; the same one for every call.

        Returns:
            A path.
        """
        if self._directory is None:
            directory = tempfile.TemporaryDirectory()
            self._directory = directory.name
            self.addCleanup(self._forget_directory, directory)
        return self._directory

    def _forget_directory(self, directory: tempfile.TemporaryDirectory[str]) -> None:
        """Delete the directory; the test gets a new one if it runs again."""
        self._directory = None
        directory.cleanup()

    @contextlib.contextmanager
    def session(
        self, graph: Any = None, config: Any = None, use_gpu: bool = True, force_gpu: bool = False
    ) -> Iterator[TestCase]:
        """Scope that does nothing: eager mode has no session.

        Args:
            graph: has no effect here.
            config: has no effect here.
            use_gpu: has no effect here.
            force_gpu: has no effect here.

        Returns:
            A context manager.
        """
        yield self

    cached_session = test_session = session

    def checkedThread(
        self, target: Callable[..., Any], args: Any = None, kwargs: Any = None
    ) -> CheckedThread:
        """A thread that fails the test when `target` raises; call `start` and `join`.

        Args:
            target: the function to run.
            args: its arguments.
            kwargs: its keyword arguments.

        Returns:
            A thread.
        """
        return CheckedThread(self, target, args or (), kwargs or {})


class CheckedThread:
    """A thread whose exception fails the test."""

    def __init__(self, case: TestCase, target: Any, args: Any, kwargs: Any) -> None:
        """Prepare a thread that calls `target`."""
        self._case = case
        self._error: BaseException | None = None

        def run() -> None:
            try:
                target(*args, **kwargs)
            except Exception as error:
                self._error = error

        self._thread = threading.Thread(target=run)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def join(self) -> None:
        """Wait for the thread, and fail the test if it raised."""
        self._thread.join()
        if self._error is not None:
            self._case.fail(f"Error in checkedThread: {self._error}")

    def is_alive(self) -> bool:
        """Whether the thread is running."""
        return self._thread.is_alive()
