"""A reduction with axis=[] changes nothing but what it does to single elements, in a tf.function at every call too."""

from checking import check, end

import gradtape as tf

for x in (
    tf.constant([1.0, 2.0, 3.0]),
    tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
    tf.constant(2.0),
):
    for name in ["sum", "mean", "prod", "max", "min", "logsumexp", "euclidean_norm", "any", "all"]:
        reduce = getattr(tf.math, "reduce_" + name)
        given = x > 1.5 if name in ("any", "all") else x
        for keeps in (False, True):
            f = tf.function(lambda x: reduce(x, axis=[], keepdims=keeps))
            for call in (1, 2, 3):
                check(
                    f"reduce_{name} of {x.shape}, keepdims={keeps}, call {call}",
                    given,
                    lambda: f(given),
                )
end()
