"""tf.random.experimental."""

from gradtape.state.random.generator import Generator as Generator
from gradtape.state.random.generator_state import Algorithm as Algorithm
from gradtape.state.random.generator_state import create_rng_state as create_rng_state
from gradtape.state.random.global_generator import get_global_generator as get_global_generator
from gradtape.state.random.global_generator import set_global_generator as set_global_generator
from gradtape.tf.random.stateless import fold_in, split
from gradtape.tf.random.stateless import index_shuffle as index_shuffle
from gradtape.tf.random.stateless import stateless_shuffle as stateless_shuffle

stateless_fold_in = fold_in
stateless_split = split
