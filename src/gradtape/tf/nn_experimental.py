"""tf.nn.experimental."""

from gradtape.tf.dropout import stateless_dropout as stateless_dropout
