"""The state of a random generator: its words, its algorithm, and how a seed makes it."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np

from gradtape.core.convert import convert
from gradtape.core.errors import UnimplementedError, public
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.state.random.sample import INTEGER_DTYPES
from gradtape.state.variable.variable import Variable

STATE_SIZE = 3  # length of a state: low and high half of the counter, and the key
WORD_BITS = 64


class Algorithm(Enum):
    """Algorithms for random bits."""

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


def as_algorithm(alg: Any) -> Algorithm:
    """The algorithm for a name, number or member; auto_select means Philox."""
    try:
        found = (
            Algorithm[alg.upper()]
            if isinstance(alg, str)
            else Algorithm(getattr(alg, "value", alg))
        )
    except (KeyError, ValueError):
        raise ValueError(
            f"Argument `alg` got unsupported value {alg}. Supported values are philox and "
            "auto_select."
        ) from None
    return Algorithm.THREEFRY if found is Algorithm.THREEFRY else Algorithm.PHILOX


def require_philox(alg: Any) -> Algorithm:
    """As `as_algorithm`, for draws.

    Raises:
        UnimplementedError: for threefry, which TensorFlow's CPU kernels do not have either.
    """
    found = as_algorithm(alg)
    if found is Algorithm.THREEFRY:
        raise UnimplementedError("random: the algorithm threefry is not supported. Use 'philox'.")
    return found


def to_int64_words(value: Any) -> Any:
    """A seed or state as a vector of int64 with the same bits; a Python integer gives three."""
    if isinstance(value, int):
        words = [value >> WORD_BITS * i & 2**WORD_BITS - 1 for i in range(STATE_SIZE)]
        return np.array(words, np.uint64).view(np.int64)
    array = value._array if isinstance(value, Tensor) else convert(value)._array
    if array.dtype not in INTEGER_DTYPES:
        raise TypeError(f"random: a seed or state must be integers. Received {array.dtype}.")
    flat = np.reshape(array, -1)
    return flat.view(np.int64) if flat.dtype == np.uint64 else flat.astype(np.int64)


@public
def create_rng_state(seed: Any, alg: Any) -> Tensor:
    """The initial state of a generator made from `seed`.

    Args:
        seed: an integer of any length, or a vector of integers.
        alg: any name of Philox, or auto_select.

    Returns:
        A vector of int64: for Philox the counter, low half first, and the key; for threefry two
        words of the seed.
    """
    words = to_int64_words(seed)[:STATE_SIZE]
    if as_algorithm(alg) is Algorithm.THREEFRY:
        return make_tensor(np.resize(np.concatenate([words, np.zeros(2, np.int64)]), 2))
    return make_tensor(np.concatenate([np.zeros(STATE_SIZE - len(words), np.int64), words]))


def check_generator_state(state: Any) -> Any:
    """A state as an array.

    Raises:
        ValueError: if it has the wrong shape.
    """
    words = to_int64_words(state.read_value() if isinstance(state, Variable) else state)
    if words.shape != (STATE_SIZE,):
        raise ValueError(f"Generator: Shapes {words.shape} and [{STATE_SIZE}] are incompatible")
    return words


def make_state(key: Any, counter: Any) -> Any:
    """Make a state from a key and a counter."""
    words = np.concatenate([to_int64_words(convert(counter)), to_int64_words(convert(key))])
    if words.shape != (STATE_SIZE,):
        raise ValueError(
            "Generator: key must be a scalar and counter have shape [2]. "
            f"Received {key} and {counter}."
        )
    return words
