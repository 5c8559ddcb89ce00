"""tf.train: checkpoints, and the messages in TFRecord files."""

from __future__ import annotations

from types import SimpleNamespace

from gradtape.files.example import BytesList as BytesList
from gradtape.files.example import Example as Example
from gradtape.files.example import Feature as Feature
from gradtape.files.example import FeatureList as FeatureList
from gradtape.files.example import FeatureLists as FeatureLists
from gradtape.files.example import Features as Features
from gradtape.files.example import FloatList as FloatList
from gradtape.files.example import Int64List as Int64List
from gradtape.files.example import SequenceExample as SequenceExample
from gradtape.state.checkpoint import Checkpoint as Checkpoint
from gradtape.state.checkpoint import CheckpointOptions as CheckpointOptions
from gradtape.state.checkpoint_manager import CheckpointManager as CheckpointManager
from gradtape.state.checkpoint_state import get_checkpoint_state as get_checkpoint_state
from gradtape.state.checkpoint_state import latest_checkpoint as latest_checkpoint
from gradtape.state.checkpoint_state import list_variables as list_variables
from gradtape.state.checkpoint_state import load_checkpoint as load_checkpoint
from gradtape.state.checkpoint_state import load_variable as load_variable
from gradtape.state.python_state import PythonState

experimental = SimpleNamespace(PythonState=PythonState)
