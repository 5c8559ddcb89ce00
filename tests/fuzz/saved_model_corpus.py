"""Models that the fuzzer of saved models starts from; they use most parts of the format."""

import os

import numpy as np

import gradtape as tf


def spec(*shape, dtype=tf.float32, name=None):
    return tf.TensorSpec(list(shape), dtype, name)


def module_with(function, **attributes):
    module = tf.Module()
    for name, value in attributes.items():
        setattr(module, name, value)
    module.f = function
    return module


def make_dense(folder):
    w = tf.Variable(np.ones((3, 2), np.float32), name="w")
    b = tf.Variable(np.zeros(2, np.float32))

    @tf.function(input_signature=[spec(None, 3, name="x")])
    def f(x):
        h = tf.nn.relu(x @ w + b)
        n = tf.cast(tf.shape(x)[0], tf.float32)
        return {"y": tf.nn.softmax(h), "m": tf.reduce_mean(h, axis=0) / n, "z": tf.zeros_like(h)}

    return module_with(f, w=w, b=b, rows=[tf.Variable(1), {"a": tf.Variable("s")}])


def make_control_flow(folder):
    w = tf.Variable(np.eye(2, dtype=np.float32))

    @tf.function(input_signature=[spec(None, 2), spec(dtype=tf.int32)])
    def f(x, steps):
        step = lambda i, s: (i + 1, tf.tanh(s @ w))  # noqa: E731
        _, s = tf.while_loop(lambda i, _: i < tf.minimum(steps, 5), step, (0, x))
        return tf.cond(tf.reduce_sum(s) > 0, lambda: s * 2.0, lambda: tf.linalg.det(w) * s)

    return module_with(f, w=w)


def make_scan(folder):
    @tf.function(input_signature=[spec(4, 2)])
    def f(x):
        return tf.scan(lambda a, b: a * 0.5 + b, x), tf.map_fn(tf.sin, x)

    return module_with(f)


def make_convolution(folder):
    kernel = tf.Variable(np.ones((2, 2, 1, 3), np.float32))

    @tf.function(input_signature=[spec(None, None, None, 1)])
    def f(x):
        y = tf.nn.conv2d(x, kernel, [1, 2], "SAME")
        y = tf.nn.max_pool2d(y, 2, 1, "VALID")
        return tf.image.resize(y, [3, 3]), tf.pad(y, [[0, 0], [1, 2], [0, 0], [0, 0]])

    return module_with(f, kernel=kernel)


def make_text(folder):
    path = os.path.join(folder, "words.txt")
    with open(path, "w", encoding="utf-8") as file:
        file.write("one\ntwo\n")
    pairs = tf.lookup.KeyValueTensorInitializer(["one", "two"], tf.constant([1, 2], tf.int64))
    table = tf.lookup.StaticHashTable(pairs, -1)
    asset = tf.saved_model.Asset(path)

    @tf.function(input_signature=[spec(None, dtype=tf.string)])
    def f(text):
        clean = tf.strings.regex_replace(tf.strings.lower(text), "[^a-z ]", "")
        words = tf.strings.split(clean).to_tensor()
        return table.lookup(words), tf.strings.join([text, text], "-"), asset.asset_path

    return module_with(f, table=table, asset=asset)


def make_mutable_table(folder):
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.float32, 0.0)
    table.insert(tf.constant(["a"]), tf.constant([1.0]))

    @tf.function(input_signature=[spec(2, dtype=tf.string)])
    def f(keys):
        table.insert(keys, tf.constant([2.0, 3.0]))
        return table.lookup(keys), table.size()

    return module_with(f, table=table)


def make_random(folder):
    generator = tf.random.Generator.from_seed(1)

    @tf.function(input_signature=[spec(None)])
    def f(x):
        noise = tf.random.normal(tf.shape(x), seed=3) + tf.random.uniform(tf.shape(x))
        return x + noise + generator.normal(tf.shape(x)), tf.random.shuffle(x, seed=1)

    return module_with(f, generator=generator)


def make_checks(folder):
    counter = tf.Variable(0)

    @tf.function(input_signature=[spec(None)])
    def f(x):
        tf.debugging.assert_greater(x, -100.0, message="must be above -100")
        tf.print("seen", tf.size(x), {"x": x}, summarize=2)
        counter.assign_add(1)
        tf.debugging.check_numerics(x, "x")
        return x + tf.cast(counter, tf.float32)

    return module_with(f, counter=counter)


def make_custom_gradient(folder):
    @tf.custom_gradient
    def cube(x):
        return x * x * x, lambda g: g * 3.0 * x * x

    @tf.function(input_signature=[tf.TensorSpec(None, tf.float32)])
    def f(x):
        return cube(x)

    return module_with(f)


def make_ragged(folder):
    f = tf.function(lambda x: (x * 2.0, tf.reduce_sum(x, axis=1)))
    f.get_concrete_function(tf.RaggedTensorSpec([None, None], tf.float32))
    return module_with(f)


def make_indexing(folder):
    state = tf.Variable(np.arange(6, dtype=np.float32).reshape(3, 2))

    @tf.function(input_signature=[spec(5), spec(2, dtype=tf.int32)])
    def f(x, at):
        picked = tf.gather(x, at)
        unique = tf.unique(x).y
        state.scatter_add(tf.IndexedSlices(tf.ones([2, 2]), at))
        sums = tf.math.segment_sum(x, tf.constant([0, 0, 1, 1, 2]))
        parts = x[1:4:2], x[..., None], tf.one_hot(at, 3), tf.cumsum(x, reverse=True)
        return picked, tf.size(unique), sums, tf.sort(x), tf.einsum("i,j->ij", x, x), parts

    return module_with(f, state=state)


def make_large_arrays(folder):
    table = tf.Variable(np.ones((50, 40), np.float32))
    kernel = tf.Variable(np.ones((3, 3, 8, 8), np.float32))

    @tf.function(input_signature=[spec(64, dtype=tf.int32), spec(2, 12, 12, 8)])
    def f(rows, images):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(table, rows) ** 2)
            loss += tf.reduce_sum(tf.nn.conv2d(images, kernel, 1, "SAME"))
        dense, filters = tape.gradient(loss, [table, kernel])
        table.scatter_sub(tf.IndexedSlices(tf.gather(dense.values, tf.range(64)), rows))
        kernel.assign_sub(filters)
        return tf.math.unsorted_segment_sum(tf.gather(table, rows), rows, 50)

    return module_with(f, table=table, kernel=kernel)


def make_linear_algebra(folder):
    @tf.function(input_signature=[spec(3, 3)])
    def f(x):
        a = x @ tf.transpose(x) + tf.eye(3)
        return tf.linalg.cholesky(a), tf.linalg.inv(a), tf.signal.rfft(x), tf.linalg.svd(x)

    return module_with(f)


def make_examples(folder):
    features = {
        "a": tf.io.FixedLenFeature([2], tf.float32, default_value=[0.0, 1.0]),
        "b": tf.io.VarLenFeature(tf.int64),
    }

    @tf.function(input_signature=[spec(None, dtype=tf.string)])
    def f(serialized):
        parsed = tf.io.parse_example(serialized, features)
        return parsed["a"], parsed["b"], tf.io.decode_base64(tf.io.encode_base64(serialized))

    return module_with(f)


def make_calls(folder):
    module = tf.Module()
    module.v = tf.Variable(2.0)
    inner = tf.function(lambda x, flag=True: {"a": [x * module.v]} if flag else (x, None))
    module.inner = inner
    inner(tf.constant(1.0))
    inner(tf.constant([1.0, 2.0]), flag=False)
    module.f = tf.function(lambda x: inner(x)["a"][0] + 1.0, input_signature=[spec()])
    return module


CORPUS = {
    name.removeprefix("make_"): make
    for name, make in list(globals().items())
    if name.startswith("make_")
}
