"""tf.raw_ops: kernels of TensorFlow that have no other public name."""

from __future__ import annotations

from gradtape.tf.raw_ops.gradient import broadcast_gradient_args as BroadcastGradientArgs  # noqa: N812
from gradtape.tf.raw_ops.gradient import igamma_grad_a as IgammaGradA  # noqa: N812
from gradtape.tf.raw_ops.gradient import matrix_diag_part as MatrixDiagPartV2  # noqa: N812
from gradtape.tf.raw_ops.gradient import random_gamma_grad as RandomGammaGrad  # noqa: N812
from gradtape.tf.raw_ops.lstm import block_lstm as BlockLSTM  # noqa: N812
from gradtape.tf.raw_ops.lstm import block_lstm_v2 as BlockLSTMV2  # noqa: N812
from gradtape.tf.raw_ops.lstm import lstm_block_cell as LSTMBlockCell  # noqa: N812
from gradtape.tf.raw_ops.projective_transform import (
    image_projective_transform as ImageProjectiveTransformV3,  # noqa: N812
)
from gradtape.tf.raw_ops.unique_bucketize import bucketize as Bucketize  # noqa: N812 - TensorFlow's names
from gradtape.tf.raw_ops.unique_bucketize import unique as UniqueV2  # noqa: N812
from gradtape.tf.raw_ops.unique_bucketize import unique_with_counts as UniqueWithCountsV2  # noqa: N812

__all__ = [
    "BlockLSTM",
    "BlockLSTMV2",
    "BroadcastGradientArgs",
    "Bucketize",
    "IgammaGradA",
    "ImageProjectiveTransformV3",
    "LSTMBlockCell",
    "MatrixDiagPartV2",
    "RandomGammaGrad",
    "UniqueV2",
    "UniqueWithCountsV2",
]
