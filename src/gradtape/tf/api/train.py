"""tf.train: checkpoints, and the protobuf messages of TFRecord files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradtape.state.checkpoint.checkpoint import Checkpoint as Checkpoint
from gradtape.state.checkpoint.checkpoint import CheckpointOptions as CheckpointOptions
from gradtape.state.checkpoint.checkpoint_state import get_checkpoint_state as get_checkpoint_state
from gradtape.state.checkpoint.checkpoint_state import latest_checkpoint as latest_checkpoint
from gradtape.state.checkpoint.checkpoint_state import list_variables as list_variables
from gradtape.state.checkpoint.checkpoint_state import load_checkpoint as load_checkpoint
from gradtape.state.checkpoint.checkpoint_state import load_variable as load_variable
from gradtape.state.checkpoint.manager import CheckpointManager as CheckpointManager
from gradtape.state.checkpoint.trackable_view import TrackableView as TrackableView
from gradtape.tf.train import experimental as experimental
from gradtape.tf.train.cluster_spec import ClusterSpec as ClusterSpec
from gradtape.tf.train.moving_average import ExponentialMovingAverage as ExponentialMovingAverage

if TYPE_CHECKING:
    from gradtape.files.example import BytesList as BytesList
    from gradtape.files.example import Example as Example
    from gradtape.files.example import Feature as Feature
    from gradtape.files.example import FeatureList as FeatureList
    from gradtape.files.example import FeatureLists as FeatureLists
    from gradtape.files.example import Features as Features
    from gradtape.files.example import FloatList as FloatList
    from gradtape.files.example import Int64List as Int64List
    from gradtape.files.example import SequenceExample as SequenceExample

PROTOBUF_MESSAGES = frozenset(
    [
        "BytesList",
        "Example",
        "Feature",
        "FeatureList",
        "FeatureLists",
        "Features",
        "FloatList",
        "Int64List",
        "SequenceExample",
    ]
)


def __getattr__(name: str) -> Any:
    """Import the protobuf messages on first access; they need the package protobuf."""
    if name not in PROTOBUF_MESSAGES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from gradtape.files import example

    return getattr(example, name)


def __dir__() -> list[str]:
    """The names of the module, including the messages."""
    return sorted({*globals(), *PROTOBUF_MESSAGES})
