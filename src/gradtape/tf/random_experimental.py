"""tf.random.experimental."""

from gradtape.state.generator import Algorithm as Algorithm
from gradtape.state.generator import Generator as Generator
from gradtape.state.generator import create_rng_state as create_rng_state
from gradtape.state.generator import get_global_generator as get_global_generator
from gradtape.state.generator import set_global_generator as set_global_generator
from gradtape.tf.stateless import fold_in, split
from gradtape.tf.stateless import index_shuffle as index_shuffle
from gradtape.tf.stateless import stateless_shuffle as stateless_shuffle

stateless_fold_in = fold_in
stateless_split = split
