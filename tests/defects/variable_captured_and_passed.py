"""A variable that a tf.function captures may be its argument too: both updates count."""

from checking import check, end

import gradtape as tf

v, w = tf.Variable(1.0), tf.Variable(5.0)


@tf.function
def f(a):
    a.assign_add(1.0)
    v.assign_add(10.0)


f(w)
check("after a call with another variable", 11.0, v)
f(v)
check("after a call with itself", 22.0, v)
f(v)
check("and once more", 33.0, v)
end()
