"""tf.autodiff: the tape and the forward accumulator."""

from gradtape.tape.forward_accumulator import ForwardAccumulator as ForwardAccumulator
from gradtape.tape.gradient_tape import GradientTape as GradientTape
