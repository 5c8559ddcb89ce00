"""The default strategy, and the functions that find or set the strategy of this thread."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from gradtape.core.errors import public
from gradtape.core.replica import replica_state
from gradtape.tf.distribute.extended import StrategyExtended
from gradtape.tf.distribute.replica_context import (
    DefaultReplicaContext,
    ReplicaContext,
)
from gradtape.tf.distribute.strategy import Strategy


class DefaultExtended(StrategyExtended):
    """The part of the default strategy that optimizers use."""

    def update(
        self,
        var: Any,
        fn: Callable[..., Any],
        args: Any = (),
        kwargs: Any = None,
        group: bool = True,
    ) -> Any:
        """Call `fn` on the variable."""
        return fn(var, *args, **(kwargs or {}))

    def colocate_vars_with(self, colocate_with_variable: Any) -> Any:
        """Scope without effect: there is one device."""
        return contextlib.nullcontext()

    def variable_created_in_scope(self, v: Any) -> bool:
        """Whether no strategy has created the variable."""
        return getattr(v, "distribute_strategy", None) is None


class DefaultStrategy(Strategy):
    """The strategy outside every scope: one replica, which calls functions directly."""

    def __init__(self) -> None:
        super().__init__(DefaultExtended(self))

    @contextlib.contextmanager
    def _enter_scope(self) -> Iterator[Strategy]:
        if replica_state.strategy is not None:
            raise RuntimeError("Cannot nest tf.distribute.Strategy scopes.")
        yield self

    def run(
        self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, options: Any = None
    ) -> Any:
        """Call `fn` once."""
        if not callable(fn):
            raise TypeError(f"Strategy.run: fn must be callable. Received {fn!r}.")
        return fn(*args, **(kwargs or {}))

    def _call_for_each_replica(self, fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        return fn(*args, **kwargs)

    def _check_cross_replica(self) -> None:
        """Allow everything: the default strategy is its own replica."""

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """The dataset itself."""
        return dataset


DEFAULT_STRATEGY = DefaultStrategy()


DEFAULT_CONTEXT = DefaultReplicaContext(DEFAULT_STRATEGY)


PROCESS_STRATEGY: list[Any] = []


def get_strategy() -> Any:
    """The strategy of this thread; the default strategy outside every scope.

    Returns:
        A Strategy.

    Example:
        >>> tf.distribute.get_strategy().num_replicas_in_sync
        1
    """
    return replica_state.strategy or DEFAULT_STRATEGY


def has_strategy() -> bool:
    """Whether a strategy other than the default one is active.

    Returns:
        A bool.
    """
    return replica_state.strategy is not None


def in_cross_replica_context() -> bool:
    """Whether this is the scope of a strategy, outside of its replicas.

    Returns:
        A bool.
    """
    state = replica_state
    return state.strategy is not None and state.replica is None


def get_replica_context() -> ReplicaContext | None:
    """The context of the replica; None in cross-replica context.

    Returns:
        A ReplicaContext or None.
    """
    if replica_state.strategy is None:
        return DEFAULT_CONTEXT
    context: ReplicaContext | None = replica_state.replica
    return context


@public
def experimental_set_strategy(strategy: Any) -> None:
    """Enter the scope of a strategy until another one, or None, is set.

    Args:
        strategy: a strategy, or None for the default one.

    Returns:
        None.

    Raises:
        RuntimeError: inside a scope of another strategy.
    """
    if PROCESS_STRATEGY:
        PROCESS_STRATEGY.pop().__exit__(None, None, None)
    if replica_state.strategy is not None:
        raise RuntimeError("experimental_set_strategy: must not be called inside a scope.")
    if strategy is not None:
        scope = strategy.scope()
        scope.__enter__()
        PROCESS_STRATEGY.append(scope)
