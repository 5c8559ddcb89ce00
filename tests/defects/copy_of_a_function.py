"""copy.deepcopy of a tf.function that has not been called, and of an object that holds one."""

import copy

from checking import check, end

import gradtape as tf

f = tf.function(lambda x: x * 2.0)
check("deepcopy of a function", 6.0, lambda: copy.deepcopy(f)(tf.constant(3.0)))


class Model(tf.Module):
    def __init__(self):
        super().__init__()
        self.v = tf.Variable(2.0)

    @tf.function
    def __call__(self, x):
        return x * self.v


m = Model()
m(tf.constant(1.0))


def copied():
    other = copy.deepcopy(m)
    other.v.assign(5.0)
    return [other(tf.constant(3.0)).numpy(), m(tf.constant(3.0)).numpy()]


check("deepcopy of a module, and the original", [15.0, 6.0], copied)
end()
