"""Numbers that differed from TensorFlow's in tf.image, tf.nn, tf.signal, tf.unique and others."""

import numpy as np
from checking import Raises, check, end

import gradtape as tf

nan = float("nan")

image = np.ones((1, 8, 8, 1), np.float32)
image[0, 0, 0, 0] = nan
check("one NaN pixel", 1, lambda: int(np.isnan(tf.image.resize(image, [4, 4])).sum()))

for n in (1, 2):
    x = tf.reshape(tf.range(16.0), [1] * n + [2, 8])
    ones = [1] * (n + 1)
    pool = getattr(tf.nn, f"max_pool{n}d")
    for padding in ("SAME", "VALID"):
        check(
            f"pool of channels, {n}d",
            [3, 7, 11, 15],
            lambda: pool(x, [*ones, 4], [*ones, 4], padding).numpy().ravel().tolist(),
        )
    check(
        "window that does not divide the channels",
        Raises(tf.errors.UnimplementedError),
        lambda: pool(x, [*ones, 3], [*ones, 3], "SAME"),
    )

for shape in ([2, 0], [0], [2, 3, 0]):
    check("rfft of nothing", shape, lambda: tf.signal.rfft(tf.zeros(shape)).shape.as_list())
    check(
        "irfft of nothing",
        shape,
        lambda: tf.signal.irfft(tf.zeros(shape, tf.complex64)).shape.as_list(),
    )

gradients = [tf.constant([-3.0, 0.0]), tf.constant([4.0, 0.0], tf.bfloat16)]
clipped, _ = tf.clip_by_global_norm(gradients, 4.0, use_norm=tf.constant(5.0))
check(
    "dtypes of clipped gradients", ["float32", "bfloat16"], lambda: [t.dtype.name for t in clipped]
)

for dtype in (tf.float32, tf.float16, tf.float64):
    mean, variance = tf.nn.weighted_moments(tf.ones([3, 2], dtype), [0], tf.zeros([3, 1], dtype))
    check("moments without weight", [0, 0, 0, 0], lambda: [*mean.numpy(), *variance.numpy()])

part = {"partition_shape": (2, 2), "partition_offset": (0, 0)}
for name in ("ones", "zeros", "random_normal", "random_uniform"):
    make = getattr(tf, f"{name}_initializer")()
    check(f"part of {name}", [2, 2], lambda: make([4, 2], **part).shape.as_list())
    check("unknown argument", Raises(TypeError), lambda: make([4, 2], size=1))
check(
    "part of a constant",
    Raises(ValueError),
    lambda: tf.constant_initializer(1.0)([4, 2], **part),
)

for dtype in (tf.float32, tf.bfloat16):
    vector = tf.constant([0.0, 1, nan, nan, 1], dtype)
    check(
        "slices with NaN",
        [0, 1, 2, 3, 1],
        lambda: tf.raw_ops.UniqueV2(x=vector, axis=[0]).idx.numpy().tolist(),
    )
    check("elements with NaN", [0, 1, 2, 3, 1], lambda: tf.unique(vector).idx.numpy().tolist())
check(
    "slices of strings",
    [0, 0, 1],
    lambda: (
        tf.raw_ops.UniqueV2(x=[["a", "b"], ["a", "b"], ["c", "a"]], axis=[0]).idx.numpy().tolist()
    ),
)
check(
    "no slices", [], lambda: tf.raw_ops.UniqueV2(x=tf.zeros([0, 2]), axis=[0]).idx.numpy().tolist()
)
end()
