"""Strategies that gradtape refuses, each with its reason."""

from __future__ import annotations

from typing import Any

from gradtape.tf.distribute.strategy import Strategy

ASYNCHRONOUS = (
    "parameter servers need asynchronous execution on remote machines, which JAX does not have. "
    "Use MirroredStrategy or MultiWorkerMirroredStrategy."
)


def make_refused_class(name: str, reason: str, base: type = Strategy) -> type:
    """Make a class for isinstance checks; its constructor raises NotImplementedError."""

    def refuse(self: Any, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(f"tf.distribute.{name}: {reason}")

    members = {"__init__": refuse, "is_refusal": True, "__doc__": f"Not supported: {reason}"}
    return type(name, (base,), {**members, "__module__": __name__})


ParameterServerStrategy = make_refused_class("ParameterServerStrategy", ASYNCHRONOUS)
CentralStorageStrategy = make_refused_class("experimental.CentralStorageStrategy", ASYNCHRONOUS)
ClusterCoordinator = make_refused_class(
    "experimental.coordinator.ClusterCoordinator", ASYNCHRONOUS, object
)
