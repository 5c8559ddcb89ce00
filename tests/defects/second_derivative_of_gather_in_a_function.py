"""The second derivative through a function that gathers rows: TensorFlow gives it."""

from checking import check, end

import gradtape as tf

f = tf.function(lambda x: tf.gather(x, [1, 0, 1]))
x = tf.constant([[0.1, 0.2], [0.4, 0.5]])
for call in (1, 2, 3):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
            target = tf.reduce_sum(y * y)
        slope = tf.convert_to_tensor(inner.gradient(target, x))
        kept = tf.reduce_sum(slope**2)
    check(
        f"call {call}",
        [[0.8, 1.6], [12.8, 16.0]],
        lambda: [
            [round(float(v), 4) for v in row]
            for row in tf.convert_to_tensor(outer.gradient(kept, x)).numpy()
        ],
    )
end()
