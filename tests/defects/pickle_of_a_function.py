"""pickle of a tf.function that has not been called and is defined at the top of a module."""

import pickle

from checking import check, end

import gradtape as tf


def double(x):
    return x * 2.0


f = tf.function(double)
check("after pickle", 6.0, lambda: pickle.loads(pickle.dumps(f))(tf.constant(3.0)))
end()
