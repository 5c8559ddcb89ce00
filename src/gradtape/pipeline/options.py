"""Options of a dataset: hints for TensorFlow's runtime that can be set and read."""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import Any

from gradtape.core.errors import public


class AutoShardPolicy(IntEnum):
    """How elements are distributed to several workers."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class ExternalStatePolicy(Enum):
    """How to treat functions with state when a dataset is saved."""

    WARN = 0
    IGNORE = 1
    FAIL = 2


class OptionGroup:
    """Attributes with fixed names, None until they are set."""

    names: tuple[str, ...] = ()

    def __init__(self) -> None:
        """Start with all options unset."""
        for name in self.names:
            object.__setattr__(self, name, None)
        object.__setattr__(self, "_is_frozen", False)

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an option.

        Raises:
            AttributeError: if there is no such option.
            ValueError: if the options are read-only.
        """
        if name not in self.__dict__:
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        if self.__dict__["_is_frozen"]:
            raise ValueError(
                "Mutating `tf.data.Options()` returned by `tf.data.Dataset.options()` has no "
                "effect. Set them on a new `tf.data.Options()` and pass it to `with_options`."
            )
        object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        """Whether all options are equal."""
        return type(other) is type(self) and self._values() == other._values()

    __hash__ = None  # type: ignore[assignment]

    def _values(self) -> dict[str, Any]:
        return {name: v for name, v in self.__dict__.items() if name != "_is_frozen"}

    def _freeze(self) -> None:
        """Make the options read-only."""
        object.__setattr__(self, "_is_frozen", True)
        for value in self.__dict__.values():
            if isinstance(value, OptionGroup):
                value._freeze()

    def update(self, other: Any) -> None:
        """Copy the options that are set in `other`.

        Args:
            other: options of the same kind.

        Returns:
            None.
        """
        for name, value in other._values().items():
            mine = self.__dict__[name]
            if isinstance(value, OptionGroup):
                mine.update(value)
            elif value is not None:
                object.__setattr__(self, name, value)


class OptimizationOptions(OptionGroup):
    """Rewrites of the pipeline."""

    names = (
        "apply_default_optimizations",
        "filter_fusion",
        "filter_parallelization",
        "inject_prefetch",
        "map_and_batch_fusion",
        "map_and_filter_fusion",
        "map_fusion",
        "map_parallelization",
        "noop_elimination",
        "parallel_batch",
        "seq_interleave_prefetch",
        "shuffle_and_repeat_fusion",
    )


class DistributeOptions(OptionGroup):
    """Options for several workers."""

    names = ("auto_shard_policy", "num_devices")


class ThreadingOptions(OptionGroup):
    """Options for threads."""

    names = ("max_intra_op_parallelism", "private_threadpool_size")


class AutotuneOptions(OptionGroup):
    """Automatic choice of buffer sizes."""

    names = (
        "autotune_algorithm",
        "cpu_budget",
        "enabled",
        "initial_parallelism",
        "min_parallelism",
        "ram_budget",
    )


class Options(OptionGroup):
    """Options of a `tf.data.Dataset`, applied with `with_options`.

    Note:
        They tune TensorFlow's runtime. Here only `deterministic` has an effect; the others are
        stored.
    """

    names = (
        "dataset_name",
        "deterministic",
        "experimental_deterministic",
        "experimental_external_state_policy",
        "experimental_slack",
        "experimental_symbolic_checkpoint",
        "experimental_warm_start",
        "framework_type",
    )

    def __init__(self) -> None:
        """Start with all options unset."""
        super().__init__()
        threading = ThreadingOptions()
        groups = {
            "autotune": AutotuneOptions(),
            "experimental_distribute": DistributeOptions(),
            "experimental_optimization": OptimizationOptions(),
            "experimental_threading": threading,
            "threading": threading,
        }
        for name, group in groups.items():
            object.__setattr__(self, name, group)

    @public
    def merge(self, options: Options) -> Options:
        """A copy of these options, overridden by those set in `options`.

        Args:
            options: the options that count first.

        Returns:
            A new `Options` object.
        """
        merged = Options()
        merged.update(self)
        merged.update(options)
        return merged

    def _copy_frozen(self) -> Options:
        """A read-only copy."""
        copy = self.merge(Options())
        copy._freeze()
        return copy
