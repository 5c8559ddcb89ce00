"""tf.tpu: what starts TPUs, and names for isinstance checks and annotations."""

from __future__ import annotations

from enum import Enum
from types import SimpleNamespace
from typing import Any, NoReturn

from gradtape.tf.distribute.tpu import initialize_tpu_system, shutdown_tpu_system


class EmbeddingFeature(Enum):
    """How a TPU supports embeddings."""

    UNSUPPORTED = "UNSUPPORTED"
    V1 = "V1"
    V2 = "V2"


class HardwareFeature:
    """The features of a TPU system; for its enum, there are no instances."""

    EmbeddingFeature = EmbeddingFeature


def refuse_tpu(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise: gradtape has no topologies and embeddings of TPUs.

    Raises:
        NotImplementedError: always.
    """
    raise NotImplementedError("tf.tpu: only TPUStrategy and its resolver run on TPUs.")


def make_tpu_class(name: str) -> type:
    """Make a class for isinstance checks; its constructor raises."""
    members = {"__init__": refuse_tpu, "build": staticmethod(refuse_tpu), "is_refusal": True}
    return type(name, (), {**members, "__doc__": "Not supported: only TPUStrategy runs on TPUs."})


EMBEDDING_NAMES = """
    Adagrad AdagradMomentum Adam FTRL FeatureConfig QuantizationConfig SGD
    SparseCoreEmbeddingConfig TPUEmbedding TPUEmbeddingForServing TPUEmbeddingV0 TPUEmbeddingV2
    TableConfig _Optimizer
"""

tpu = SimpleNamespace(
    experimental=SimpleNamespace(
        DeviceAssignment=make_tpu_class("DeviceAssignment"),
        HardwareFeature=HardwareFeature,
        TPUSystemMetadata=make_tpu_class("TPUSystemMetadata"),
        Topology=make_tpu_class("Topology"),
        embedding=SimpleNamespace(
            **{name: make_tpu_class(name) for name in EMBEDDING_NAMES.split()}
        ),
        initialize_tpu_system=initialize_tpu_system,
        shutdown_tpu_system=shutdown_tpu_system,
    ),
)
