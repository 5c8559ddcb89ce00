"""Generator: a stream of random numbers with its state in a variable."""

from __future__ import annotations

import secrets
from math import prod
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.lock import Lock
from gradtape.core.replica import replica_state
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.ops.random import stateless as r
from gradtape.ops.random.rejection import random_binomial
from gradtape.state.checkpoint.trackable import Trackable
from gradtape.state.random.generator_state import (
    STATE_SIZE,
    check_generator_state,
    create_rng_state,
    make_state,
    require_philox,
)
from gradtape.state.random.live_generators import LIVE_GENERATORS
from gradtape.state.random.sample import (
    INTEGER_DTYPES,
    SIGNED_DTYPES,
    check_float_dtype,
    check_sample_shape,
    draw_uniform,
    scale_and_shift,
)
from gradtape.state.random.seed import SEEDS
from gradtape.state.variable.variable import Variable

SKIP_LOCK = Lock()


class Generator(Trackable):
    """A generator of random numbers; each draw advances its state.

    Args:
        copy_from: a generator whose state is copied.
        state: counter (low half first) and key, three int64.
        alg: any name of Philox, or auto_select.

    Example:
        >>> g = tf.random.Generator.from_seed(1)
        >>> g.normal([2]).numpy()
        array([ 0.43842274, -0.53439844], dtype=float32)
        >>> g.state.numpy()
        array([513,   0,   0])
    """

    @public
    def __init__(self, copy_from: Any = None, state: Any = None, alg: Any = None) -> None:
        if copy_from is not None:
            if state is not None or alg is not None:
                raise ValueError(
                    "Generator: pass either copy_from, or state and alg. Received both."
                )
            state, alg = copy_from.state, copy_from._algorithm
        if state is None or alg is None:
            raise ValueError("Generator: pass either copy_from, or both state and alg.")
        self._algorithm = require_philox(alg)
        self._state_var = Variable(
            check_generator_state(state), trainable=False, name="StateVar", dtype=dtypes.int64
        )
        self._strategy = replica_state.strategy
        self._state_var._is_random = True  # a trace restores it before it runs a part again
        LIVE_GENERATORS.add(self)

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        return {"_state_var": self._state_var}

    @classmethod
    @public
    def from_seed(cls, seed: Any, alg: Any = None) -> Generator:
        """Make a generator from `seed`, an integer or a vector of integers.

        Args:
            seed: the seed.
            alg: the algorithm; Philox if None.

        Returns:
            A `Generator`.

        >>> g = tf.random.Generator.from_seed(1)
        >>> print(g.normal([2]).shape, g.uniform([3], maxval=10, dtype=tf.int32).shape)
        (2,) (3,)
        """
        chosen = "philox" if alg is None else alg
        return cls(state=create_rng_state(seed, chosen), alg=chosen)

    @classmethod
    @public
    def from_state(cls, state: Any, alg: Any) -> Generator:
        """Make a generator that continues from a state of another generator.

        Args:
            state: the `state` of another generator, or its value.
            alg: the algorithm of that generator.

        Returns:
            A `Generator`.
        """
        return cls(state=state, alg=alg)

    @classmethod
    @public
    def from_key_counter(cls, key: Any, counter: Any, alg: Any) -> Generator:
        """Make a generator with this key and counter.

        Args:
            key: a scalar integer.
            counter: a vector of integers; its length depends on `alg`.
            alg: the algorithm: "philox" or "threefry", or `tf.random.Algorithm`.

        Returns:
            A `Generator`.
        """
        return cls(state=make_state(key, counter), alg=alg)

    @classmethod
    @public
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        """Make a generator with a random state.

        Args:
            alg: the algorithm; Philox if None.

        Returns:
            A `Generator`.

        Raises:
            RuntimeError: if `tf.config.experimental.enable_op_determinism` was called.
        """
        if SEEDS.are_required:
            raise RuntimeError(
                '"from_non_deterministic_state" cannot be called when determinism is enabled. Use '
                "tf.random.Generator.from_seed."
            )
        words = np.frombuffer(secrets.token_bytes(8 * STATE_SIZE), np.int64)
        return cls(state=words, alg="philox" if alg is None else alg)

    @property
    def state(self) -> Variable:
        """The variable that holds counter and key."""
        return self._state_var

    @property
    def algorithm(self) -> int:
        """The number of the algorithm, 1 for Philox."""
        return int(self._algorithm.value)

    @property
    def key(self) -> Tensor:
        """The key, which selects the stream; generators made by `split` differ only in it."""
        return self._state_var.value()[STATE_SIZE - 1]

    @public
    def reset(self, state: Any) -> None:
        """Set the state.

        Args:
            state: the new state, an integer vector.
        """
        self._state_var.assign(make_tensor(check_generator_state(state)))

    @public
    def reset_from_seed(self, seed: Any) -> None:
        """Set the state to that of `from_seed(seed)`.

        Args:
            seed: the seed.
        """
        self._state_var.assign(create_rng_state(seed, self._algorithm))

    @public
    def reset_from_key_counter(self, key: Any, counter: Any) -> None:
        """Set the state to this key and counter.

        Args:
            key: a scalar integer.
            counter: a vector of integers.
        """
        self._state_var.assign(make_tensor(make_state(key, counter)))

    @public
    def skip(self, delta: Any) -> Tensor:
        """Advance the state past `delta` numbers.

        Args:
            delta: how many numbers to skip, an integer.

        Returns:
            The previous state.
        """
        with SKIP_LOCK:
            before: Tensor = self._state_var.read_value()
            self._state_var.assign(r.skip_ahead(before, convert(delta, dtypes.int64)))
        return before

    def _next_stream(self, shape: tuple[int, ...]) -> Any:
        """Key and counter for a draw of this shape; advances the state.

        The replicas of a strategy have the same state and, as in TensorFlow, keys of their own.
        """
        key, counter = r.split_generator_state(self.skip(prod(shape)))
        replica = replica_state.replica
        if replica is None or self._strategy is None:
            return key, counter
        number = make_tensor(np.array([int(replica.replica_id_in_sync_group), 0], np.uint64))
        return r.random_bits(key, number, shape=(1,), dtype=np.dtype(np.uint64)), counter

    @public
    def normal(
        self,
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:
        """Samples of a normal distribution; see `tf.random.normal`.

        Args:
            shape: the shape of the result.
            mean: the mean; it broadcasts with `shape`.
            stddev: the standard deviation; it broadcasts with `shape`.
            dtype: the dtype of the result.
            name: ignored.

        Returns:
            A tensor.
        """
        sizes, raw = check_sample_shape(shape), check_float_dtype("normal", dtype)
        drawn = r.random_normal(*self._next_stream(sizes), shape=sizes, dtype=raw)
        return scale_and_shift(drawn, stddev, mean)

    @public
    def truncated_normal(
        self,
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:
        """Samples of a truncated normal distribution; see `tf.random.truncated_normal`.

        Args:
            shape: the shape of the result.
            mean: the mean before truncation.
            stddev: the standard deviation before truncation.
            dtype: the dtype of the result.
            name: ignored.

        Returns:
            A tensor.
        """
        sizes, raw = check_sample_shape(shape), check_float_dtype("truncated_normal", dtype)
        drawn = r.random_truncated_normal(*self._next_stream(sizes), shape=sizes, dtype=raw)
        return scale_and_shift(drawn, stddev, mean)

    @public
    def uniform(
        self,
        shape: Any,
        minval: Any = 0,
        maxval: Any = None,
        dtype: Any = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:
        """Samples of the uniform distribution on [minval, maxval); see `tf.random.uniform`.

        Integers are drawn over their whole range if both bounds are None.

        Args:
            shape: the shape of the result.
            minval: the least value.
            maxval: the upper bound, which is not drawn; 1 for floats if None.
            dtype: the dtype of the result.
            name: ignored.

        Returns:
            A tensor.
        """
        sizes = check_sample_shape(shape)
        return draw_uniform(
            "Generator.uniform",
            lambda op, raw: self._next_stream(sizes),
            sizes,
            minval,
            maxval,
            dtype,
        )

    @public
    def uniform_full_int(
        self, shape: Any, dtype: Any = dtypes.uint64, name: str | None = None
    ) -> Tensor:
        """Integers drawn over the whole range of `dtype`, which has 32 or 64 bits.

        Args:
            shape: the shape of the result.
            dtype: an integer dtype of 32 or 64 bits.
            name: ignored.

        Returns:
            A tensor.
        """
        sizes, kind = check_sample_shape(shape), dtypes.as_dtype(dtype)
        raw = np.dtype(kind.as_numpy_dtype)
        if raw not in INTEGER_DTYPES:
            raise InvalidArgumentError(
                "uniform_full_int: dtype must be an integer type of 32 or 64 bits. "
                f"Received {kind.name}."
            )
        drawn: Tensor = r.random_bits(*self._next_stream(sizes), shape=sizes, dtype=raw)
        return drawn

    @public
    def binomial(
        self,
        shape: Any,
        counts: Any,
        probs: Any,
        dtype: Any = dtypes.int32,
        name: str | None = None,
    ) -> Tensor:
        """Samples of binomial distributions; `shape` ends with the parameters' broadcast shape.

        Args:
            shape: shape of the result.
            counts: number of trials.
            probs: probability that a trial succeeds.
            dtype: dtype of the result: int32, int64 or a floating type.
            name: ignored.

        Returns:
            A tensor of `shape` and `dtype`.
        """
        sizes = check_sample_shape(shape)
        p = convert(probs)
        n = convert(counts, p.dtype)
        inner = np.broadcast_shapes(n._array.shape, p._array.shape)
        if sizes[len(sizes) - len(inner) :] != inner:
            raise InvalidArgumentError(
                f"binomial: Shape passed in must end with broadcasted shape {list(inner)}. "
                f"Received {list(sizes)}."
            )
        raw = np.dtype(dtypes.as_dtype(dtype).as_numpy_dtype)
        if raw.kind != "f" and raw not in SIGNED_DTYPES:
            raise InvalidArgumentError(f"binomial: dtype must be a number type. Received {raw}.")
        distributions = prod(inner)
        each = prod(sizes) // distributions if distributions else 0
        stream = r.split_generator_state(
            self.skip(50 * distributions * (each + 3))
        )  # as many as TensorFlow reserves
        drawn: Tensor = random_binomial(*stream, n, p, shape=sizes, dtype=raw)
        return drawn

    @public
    def make_seeds(self, count: int = 1) -> Tensor:
        """Seeds for stateless ops, as the columns of a tensor of shape (2, count).

        Args:
            count: the number of seeds.

        Returns:
            An integer tensor of shape (2, count).
        """
        keys = self.uniform_full_int([count], dtypes.int64)._array
        return make_tensor(np.stack([keys, np.zeros_like(keys)]))

    @public
    def split(self, count: int = 1) -> list[Generator]:
        """Make generators with keys drawn from this one, so with different streams.

        Args:
            count: the number of generators.

        Returns:
            A list of generators.
        """
        keys = self.uniform_full_int([count], dtypes.int64)._array
        return [self.from_key_counter(key, [0, 0], self._algorithm) for key in keys]
