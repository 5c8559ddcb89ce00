"""tf.nn.experimental."""

from gradtape.tf.nn.dropout import general_dropout as general_dropout
from gradtape.tf.nn.dropout import stateless_dropout as stateless_dropout
