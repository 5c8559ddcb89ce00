"""tf.random: random numbers from an op seed or the global seed, equal to TensorFlow's."""

from gradtape.state.random.generator import Generator as Generator
from gradtape.state.random.generator_state import Algorithm as Algorithm
from gradtape.state.random.generator_state import create_rng_state as create_rng_state
from gradtape.state.random.global_generator import get_global_generator as get_global_generator
from gradtape.state.random.global_generator import set_global_generator as set_global_generator
from gradtape.tf.random import experimental as experimental
from gradtape.tf.random.candidate_sampler import all_candidate_sampler as all_candidate_sampler
from gradtape.tf.random.candidate_sampler import (
    log_uniform_candidate_sampler as log_uniform_candidate_sampler,
)
from gradtape.tf.random.candidate_sampler import (
    uniform_candidate_sampler as uniform_candidate_sampler,
)
from gradtape.tf.random.distribution import stateless_binomial as stateless_binomial
from gradtape.tf.random.distribution import stateless_categorical as stateless_categorical
from gradtape.tf.random.distribution import stateless_gamma as stateless_gamma
from gradtape.tf.random.distribution import (
    stateless_parameterized_truncated_normal as stateless_parameterized_truncated_normal,
)
from gradtape.tf.random.distribution import stateless_poisson as stateless_poisson
from gradtape.tf.random.stateful import categorical as categorical
from gradtape.tf.random.stateful import gamma as gamma
from gradtape.tf.random.stateful import normal as normal
from gradtape.tf.random.stateful import poisson as poisson
from gradtape.tf.random.stateful import set_seed as set_seed
from gradtape.tf.random.stateful import shuffle as shuffle
from gradtape.tf.random.stateful import truncated_normal as truncated_normal
from gradtape.tf.random.stateful import uniform as uniform
from gradtape.tf.random.stateless import fold_in as fold_in
from gradtape.tf.random.stateless import split as split
from gradtape.tf.random.stateless import stateless_normal as stateless_normal
from gradtape.tf.random.stateless import stateless_truncated_normal as stateless_truncated_normal
from gradtape.tf.random.stateless import stateless_uniform as stateless_uniform
from gradtape.tf.random.unigram_sampler import (
    fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler,
)
from gradtape.tf.random.unigram_sampler import (
    learned_unigram_candidate_sampler as learned_unigram_candidate_sampler,
)
