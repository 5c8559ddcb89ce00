"""A model saved with open sizes gives, loaded, for every size what it gave before."""

import tempfile

import gradtape as tf
import numpy as np
from checking import check, end


def compare(name, f, sizes, shapes):
    module = tf.Module()
    module.f = tf.function(f, input_signature=[tf.TensorSpec(sizes, tf.float32)])
    path = tempfile.mkdtemp()
    try:
        tf.saved_model.save(module, path)
        loaded = tf.saved_model.load(path)
    except Exception as error:
        check(
            f"{name}, saved and loaded", "no error", f"{type(error).__name__}: {str(error)[:150]}"
        )
        return
    for shape in shapes:
        x = tf.constant(np.random.default_rng(0).normal(size=shape).astype(np.float32))
        expected = f(x).numpy()

        def came(x=x):
            return loaded.f(x)

        check(f"{name}, {shape}", expected.shape, lambda: came().numpy().shape)
        check(
            f"{name}, {shape}, largest difference",
            0.0,
            lambda: float(np.abs(came().numpy() - expected).max()),
        )


w = tf.ones([3, 1, 1])
compare(
    "stride 2 over a product of sizes",
    lambda x: tf.nn.conv1d(tf.reshape(x, [1, -1, 1]), w, 2, "SAME"),
    [None, None],
    [(4, 6), (5, 7), (3, 3)],
)
compare(
    "central_crop after stride 2",
    lambda x: tf.image.central_crop(tf.nn.conv2d(x, tf.ones([3, 3, 1, 1]), 2, "SAME"), 0.5),
    [1, 2, None, 1],
    [(1, 2, 5, 1), (1, 2, 8, 1), (1, 2, 7, 1)],
)
compare("linspace of a size", lambda x: x + tf.linspace(0.0, 1.0, tf.size(x)), [None], [(4,), (1,)])
end()
