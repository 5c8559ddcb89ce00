"""Names of `tf.__internal__.distribute`, which Keras uses."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from gradtape.tf.distribute.current_strategy import get_replica_context, get_strategy


def maybe_merge_call(fn: Any, strategy: Any, *args: Any, **kwargs: Any) -> Any:
    """Call `fn` once for all replicas; with one replica, call it directly."""
    context = get_replica_context()
    if context is None or strategy_supports_no_merge_call():
        return fn(strategy, *args, **kwargs)
    return context.merge_call(fn, args=args, kwargs=kwargs)


def strategy_supports_no_merge_call() -> bool:
    """Whether there is one replica, so that nothing needs to be merged."""
    return get_strategy().num_replicas_in_sync == 1


distribute_internal = SimpleNamespace(
    interim=SimpleNamespace(maybe_merge_call=maybe_merge_call),
    strategy_supports_no_merge_call=strategy_supports_no_merge_call,
)
