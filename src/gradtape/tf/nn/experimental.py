"""tf.nn.experimental."""

from gradtape.tf.nn.dropout import stateless_dropout as stateless_dropout
