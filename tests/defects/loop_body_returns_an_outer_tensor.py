"""In a tf.function, the body of while_loop, map_fn, scan, foldl and foldr may return a tensor from outside as it is."""

from checking import check, end

import gradtape as tf

k = tf.constant(7.0)
x = tf.constant([1.0, 2.0, 3.0])

LOOPS = {
    "while_loop": (
        lambda x: tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, k), [0, x[0]])[1],
        7.0,
    ),
    "map_fn": (lambda x: tf.map_fn(lambda e: k, x), [7.0, 7.0, 7.0]),
    "scan": (lambda x: tf.scan(lambda a, e: k, x), [1.0, 7.0, 7.0]),
    "scan with a start": (lambda x: tf.scan(lambda a, e: k, x, initializer=0.0), [7.0, 7.0, 7.0]),
    "foldl": (lambda x: tf.foldl(lambda a, e: k, x), 7.0),
    "foldr": (lambda x: tf.foldr(lambda a, e: k, x), 7.0),
}
for name, (loop, expected) in LOOPS.items():
    f = tf.function(loop)
    for call in (1, 2, 3):
        check(f"{name}, call {call}", expected, lambda: f(x))
end()
