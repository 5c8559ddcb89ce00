"""tf.xla.experimental: requests to compile with XLA."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from gradtape.core.errors import public
from gradtape.jit.function import function
from gradtape.tf.framework import executing_eagerly


@public
def compile(computation: Callable[..., Any], inputs: Sequence[Any] | None = None) -> Any:
    """Call a function that is compiled with XLA, as `tf.function(jit_compile=True)` does.

    Args:
        computation: the function.
        inputs: its arguments.

    Returns:
        What `computation` returns. A single tensor comes in a tuple, as in TensorFlow.

    Example:
        >>> import gradtape as tf
        >>> tf.xla.experimental.compile(lambda x: x + 1, [tf.constant(1)])[0].numpy()
        np.int32(2)
    """
    result = function(computation, jit_compile=True)(*(inputs or ()))
    if result is None or isinstance(result, (tuple, list, dict)):
        return result
    return (result,)


@contextmanager
def open_jit_scope() -> Iterator[None]:
    """Scope without effect: the engine is chosen for a whole function.

    Yields:
        None.
    """
    yield


@public
def jit_scope(compile_ops: Any = True, separate_compiled_gradients: bool = False) -> Any:
    """Scope whose ops may be compiled together; a hint without effect here.

    Args:
        compile_ops: has no effect here.
        separate_compiled_gradients: has no effect here.

    Returns:
        A context manager.

    Raises:
        RuntimeError: outside of a `tf.function`.
    """
    if executing_eagerly():
        raise RuntimeError(
            "xla.experimental.jit_scope: it must be used inside a function. Received a call in "
            "eager mode. Put the code into a tf.function."
        )
    return open_jit_scope()
