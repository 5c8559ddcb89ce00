"""tf.nn: activations, losses, normalisation, convolutions and pools."""

from gradtape.tf.math.elementwise import sigmoid as sigmoid
from gradtape.tf.math.elementwise import softplus as softplus
from gradtape.tf.math.elementwise import softsign as softsign
from gradtape.tf.math.elementwise import tanh as tanh
from gradtape.tf.math.reduce import l2_normalize as l2_normalize
from gradtape.tf.math.reduce import zero_fraction as zero_fraction
from gradtape.tf.math.top_k import approx_max_k as approx_max_k
from gradtape.tf.math.top_k import approx_min_k as approx_min_k
from gradtape.tf.math.top_k import in_top_k as in_top_k
from gradtape.tf.math.top_k import top_k as top_k
from gradtape.tf.nn import experimental as experimental
from gradtape.tf.nn.activation import crelu as crelu
from gradtape.tf.nn.activation import elu as elu
from gradtape.tf.nn.activation import gelu as gelu
from gradtape.tf.nn.activation import leaky_relu as leaky_relu
from gradtape.tf.nn.activation import relu as relu
from gradtape.tf.nn.activation import relu6 as relu6
from gradtape.tf.nn.activation import selu as selu
from gradtape.tf.nn.activation import silu as silu
from gradtape.tf.nn.activation import swish as swish
from gradtape.tf.nn.argmax_pool import max_pool_with_argmax as max_pool_with_argmax
from gradtape.tf.nn.convolution import atrous_conv2d as atrous_conv2d
from gradtape.tf.nn.convolution import conv1d as conv1d
from gradtape.tf.nn.convolution import conv2d as conv2d
from gradtape.tf.nn.convolution import conv3d as conv3d
from gradtape.tf.nn.convolution import convolution as convolution
from gradtape.tf.nn.convolution import depthwise_conv2d as depthwise_conv2d
from gradtape.tf.nn.convolution import separable_conv2d as separable_conv2d
from gradtape.tf.nn.convolution_gradient import atrous_conv2d_transpose as atrous_conv2d_transpose
from gradtape.tf.nn.convolution_gradient import (
    depthwise_conv2d_backprop_filter as depthwise_conv2d_backprop_filter,
)
from gradtape.tf.nn.convolution_gradient import (
    depthwise_conv2d_backprop_input as depthwise_conv2d_backprop_input,
)
from gradtape.tf.nn.convolution_gradient import with_space_to_batch as with_space_to_batch
from gradtape.tf.nn.ctc_decoder import ctc_beam_search_decoder as ctc_beam_search_decoder
from gradtape.tf.nn.ctc_decoder import ctc_greedy_decoder as ctc_greedy_decoder
from gradtape.tf.nn.ctc_loss import collapse_repeated as collapse_repeated
from gradtape.tf.nn.ctc_loss import ctc_loss as ctc_loss
from gradtape.tf.nn.ctc_loss import ctc_unique_labels as ctc_unique_labels
from gradtape.tf.nn.dilation import dilation2d as dilation2d
from gradtape.tf.nn.dilation import erosion2d as erosion2d
from gradtape.tf.nn.dropout import dropout as dropout
from gradtape.tf.nn.embedding import embedding_lookup as embedding_lookup
from gradtape.tf.nn.embedding_sparse import embedding_lookup_sparse as embedding_lookup_sparse
from gradtape.tf.nn.embedding_sparse import (
    safe_embedding_lookup_sparse as safe_embedding_lookup_sparse,
)
from gradtape.tf.nn.fractional_pool import fractional_avg_pool as fractional_avg_pool
from gradtape.tf.nn.fractional_pool import fractional_max_pool as fractional_max_pool
from gradtape.tf.nn.isotonic_regression import isotonic_regression as isotonic_regression
from gradtape.tf.nn.loss import compute_average_loss as compute_average_loss
from gradtape.tf.nn.loss import l2_loss as l2_loss
from gradtape.tf.nn.loss import log_poisson_loss as log_poisson_loss
from gradtape.tf.nn.loss import log_softmax as log_softmax
from gradtape.tf.nn.loss import scale_regularization_loss as scale_regularization_loss
from gradtape.tf.nn.loss import (
    sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits,
)
from gradtape.tf.nn.loss import softmax as softmax
from gradtape.tf.nn.loss import (
    softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits,
)
from gradtape.tf.nn.loss import (
    sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits,
)
from gradtape.tf.nn.loss import (
    weighted_cross_entropy_with_logits as weighted_cross_entropy_with_logits,
)
from gradtape.tf.nn.nce_loss import compute_accidental_hits as compute_accidental_hits
from gradtape.tf.nn.nce_loss import nce_loss as nce_loss
from gradtape.tf.nn.nce_loss import sampled_softmax_loss as sampled_softmax_loss
from gradtape.tf.nn.normalization import (
    batch_norm_with_global_normalization as batch_norm_with_global_normalization,
)
from gradtape.tf.nn.normalization import batch_normalization as batch_normalization
from gradtape.tf.nn.normalization import bias_add as bias_add
from gradtape.tf.nn.normalization import (
    local_response_normalization as local_response_normalization,
)
from gradtape.tf.nn.normalization import lrn as lrn
from gradtape.tf.nn.normalization import moments as moments
from gradtape.tf.nn.normalization import normalize_moments as normalize_moments
from gradtape.tf.nn.normalization import sufficient_statistics as sufficient_statistics
from gradtape.tf.nn.normalization import weighted_moments as weighted_moments
from gradtape.tf.nn.pool import avg_pool as avg_pool
from gradtape.tf.nn.pool import avg_pool1d as avg_pool1d
from gradtape.tf.nn.pool import avg_pool2d as avg_pool2d
from gradtape.tf.nn.pool import avg_pool3d as avg_pool3d
from gradtape.tf.nn.pool import max_pool as max_pool
from gradtape.tf.nn.pool import max_pool1d as max_pool1d
from gradtape.tf.nn.pool import max_pool2d as max_pool2d
from gradtape.tf.nn.pool import max_pool3d as max_pool3d
from gradtape.tf.nn.pool import pool as pool
from gradtape.tf.nn.space_to_batch import space_to_batch as space_to_batch
from gradtape.tf.nn.space_to_depth import depth_to_space as depth_to_space
from gradtape.tf.nn.space_to_depth import space_to_depth as space_to_depth
from gradtape.tf.nn.transposed_convolution import conv1d_transpose as conv1d_transpose
from gradtape.tf.nn.transposed_convolution import conv2d_transpose as conv2d_transpose
from gradtape.tf.nn.transposed_convolution import conv3d_transpose as conv3d_transpose
from gradtape.tf.nn.transposed_convolution import conv_transpose as conv_transpose
from gradtape.tf.random.candidate_sampler import all_candidate_sampler as all_candidate_sampler
from gradtape.tf.random.unigram_sampler import (
    fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler,
)
from gradtape.tf.random.unigram_sampler import (
    learned_unigram_candidate_sampler as learned_unigram_candidate_sampler,
)
