"""Members of Variable that remain from TensorFlow 1."""

from __future__ import annotations

from typing import Any, NoReturn

from gradtape.core.convert import convert
from gradtape.core.tensor import Tensor


class Tf1Methods:
    """Members for graph mode; most of them raise in eager execution."""

    __slots__ = ()

    @property
    def initializer(self) -> None:
        """None: eager variables have their value from the start."""

    def is_initialized(self, name: str | None = None) -> Tensor:
        """True: eager variables have their value from the start.

        Args:
            name: has no effect here.

        Returns:
            A scalar bool.
        """
        return convert(True)

    @property
    def initial_value(self) -> NoReturn:
        """Not supported in eager execution."""
        raise RuntimeError(
            "tf.Variable.initial_value is not supported when eager execution is enabled."
        )

    def initialized_value(self) -> NoReturn:
        """Not supported.

        Returns:
            Nothing: it raises an error.
        """
        raise NotImplementedError("tf.Variable.initialized_value: read the variable instead.")

    @property
    def op(self) -> NoReturn:
        """Undefined in eager execution."""
        raise AttributeError("tf.Variable.op is undefined when eager execution is enabled.")

    @property
    def graph(self) -> NoReturn:
        """Undefined in eager execution."""
        raise AttributeError("tf.Variable.graph is undefined when eager execution is enabled.")

    def eval(self, session: Any = None) -> NoReturn:
        """Not supported in eager execution.

        Args:
            session: has no effect here.

        Returns:
            Nothing: it raises an error.
        """
        raise RuntimeError(
            "tf.Variable.eval is not supported when eager execution is enabled. Use .numpy()."
        )
