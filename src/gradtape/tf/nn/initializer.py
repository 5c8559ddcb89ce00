"""Initializers of variables: callables that make a tensor of a given shape."""

from __future__ import annotations

from typing import Any

from gradtape.core import dtypes
from gradtape.core.argument import check_instance
from gradtape.core.convert import convert
from gradtape.core.dtypes import DType
from gradtape.core.errors import public
from gradtape.core.tensor import Tensor
from gradtape.tf.array import creation
from gradtape.tf.random import stateful

PARTITION_ARGUMENTS = ("partition_shape", "partition_offset")


def check_initializer_dtype(dtype: Any, kinds: str) -> DType:
    """Convert `dtype` to a DType, after a check: floats only if `kinds` is "floats"."""
    given = dtypes.as_dtype(dtype)
    floats = given.is_floating
    numbers = floats or given.is_integer or given.is_complex or given.is_bool
    if not (floats if kinds == "floats" else numbers):
        raise ValueError(f"Argument `dtype` expected to be {kinds}. Received {given}.")
    return given


def check_partition(kwargs: dict[str, Any]) -> None:
    """Raise if there are other keyword arguments than those about the part of a variable."""
    for key in kwargs:
        if key not in PARTITION_ARGUMENTS:
            raise TypeError(
                f"Keyword argument should be one of {list(PARTITION_ARGUMENTS)}. Received: {key}"
            )


def shape_of_part(shape: Any, kwargs: dict[str, Any]) -> Any:
    """The shape of the part of a variable that is to be made, or of all of it."""
    check_partition(kwargs)
    if "partition_shape" in kwargs:
        return convert(kwargs["partition_shape"], dtypes.int32)
    return shape


class constant_initializer:  # noqa: N801  TensorFlow's name
    """Make tensors of a given value.

    Args:
        value: a number, or a list or array of them.
        support_partition: whether calls accept `partition_shape` and `partition_offset`, which
            have no effect, as in TensorFlow.
    """

    @public
    def __init__(self, value: Any = 0, support_partition: bool = False) -> None:
        self.value = value
        self._support_partition = support_partition

    def __call__(self, shape: Any, dtype: Any = None, **kwargs: Any) -> Tensor:
        """A tensor of `shape`.

        Raises:
            ValueError: if a part is asked for and `support_partition` is false.
        """
        check_partition(kwargs)
        if kwargs and not self._support_partition:
            raise ValueError("Constant initializer doesn't support partition-related arguments")
        return creation.constant(self.value, dtype=dtype, shape=shape)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal initializer."""
        return {"value": self.value}

    @classmethod
    @public
    def from_config(cls, config: dict[str, Any]) -> Any:
        """Make an initializer from the result of `get_config`.

        Args:
            config: the result of `get_config`.

        Returns:
            An initializer.
        """
        check_instance(config, dict, "config")
        return cls(**config)


class zeros_initializer(constant_initializer):  # noqa: N801  TensorFlow's name
    """Make tensors of zeros."""

    def __init__(self) -> None:
        super().__init__(0)

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> Tensor:
        """Zeros of `shape`."""
        given = check_initializer_dtype(dtype, "numeric or boolean")
        return creation.zeros(shape_of_part(shape, kwargs), given)

    def get_config(self) -> dict[str, Any]:
        """An empty dict: there are no arguments."""
        return {}


class ones_initializer(zeros_initializer):  # noqa: N801  TensorFlow's name
    """Make tensors of ones."""

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> Tensor:
        """Ones of `shape`."""
        given = check_initializer_dtype(dtype, "numeric or boolean")
        return creation.ones(shape_of_part(shape, kwargs), given)


class random_uniform_initializer:  # noqa: N801  TensorFlow's name
    """Make uniformly distributed tensors.

    Args:
        minval: the smallest value.
        maxval: the upper bound, not included.
        seed: an integer that makes the numbers reproducible.
    """

    @public
    def __init__(self, minval: Any = -0.05, maxval: Any = 0.05, seed: Any = None) -> None:
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> Tensor:
        """A random tensor of `shape`."""
        given = dtypes.as_dtype(dtype)
        if not given.is_integer:
            check_initializer_dtype(given, "floats")
        part = shape_of_part(shape, kwargs)
        return stateful.uniform(part, self.minval, self.maxval, given, seed=self.seed)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal initializer."""
        return {"minval": self.minval, "maxval": self.maxval, "seed": self.seed}


class random_normal_initializer:  # noqa: N801  TensorFlow's name
    """Make normally distributed tensors.

    Args:
        mean: the mean.
        stddev: the standard deviation.
        seed: an integer that makes the numbers reproducible.
    """

    @public
    def __init__(self, mean: Any = 0.0, stddev: Any = 0.05, seed: Any = None) -> None:
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def __call__(self, shape: Any, dtype: Any = dtypes.float32, **kwargs: Any) -> Tensor:
        """A random tensor of `shape`."""
        given = check_initializer_dtype(dtype, "floats")
        part = shape_of_part(shape, kwargs)
        return stateful.normal(part, self.mean, self.stddev, given, seed=self.seed)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal initializer."""
        return {"mean": self.mean, "stddev": self.stddev, "seed": self.seed}
