"""Values that leave the tensors and come back through Python: the answer names the line.

Each program marks the line that loses the gradient with `# cause`; without a mark none is lost.
"""

import re

import pytest

import gradtape as tf

PROGRAMS = {
    "a variable is made anew under its name": """
        old = w
        w = tf.Variable(w * 0.9)  # variable_replaced
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w**2)
        w = old
    """,
    "a batched dataset": """
        with tf.GradientTape() as tape:
            data = tf.data.Dataset.from_tensor_slices(w * 2.0).batch(2)
            loss = tf.constant(0.0)
            for batch in data:  # dataset_iteration
                loss += tf.reduce_sum(batch)
    """,
    "a comprehension inside a call": """
        with tf.GradientTape() as tape:
            ranked = sorted([float(v) for v in w], reverse=True)  # python_round_trip
            loss = tf.reduce_sum(tf.stack(ranked[:1]))
    """,
    "partial": """
        from functools import partial

        def scale(factor, x):
            return tf.reduce_sum(x * factor)

        with tf.GradientTape() as tape:
            f = partial(scale, w.numpy())  # numpy_round_trip
            loss = f(tf.ones([2]))
    """,
    "an element of an array": """
        rows = np.zeros((2, 2), np.float32)
        with tf.GradientTape() as tape:
            for i in range(2):
                rows[i] = w * float(i)  # numpy_round_trip
            loss = tf.reduce_sum(tf.matmul(rows, tf.ones([2, 1])))
    """,
    "a variable that leaves before the tape starts": """
        frozen = {"w": w.numpy()}  # numpy_round_trip
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(frozen["w"]))
    """,
    "keyword arguments": """
        def total(**parts):
            return parts["x"] * tf.constant(2.0)

        with tf.GradientTape() as tape:
            loss = total(x=float(w[0]))  # python_round_trip
    """,
    "match": """
        with tf.GradientTape() as tape:
            match int(w[0]):  # python_round_trip
                case 1:
                    loss = tf.constant(1.0)
                case _:
                    loss = tf.constant(0.0)
    """,
    "a conditional expression": """
        with tf.GradientTape() as tape:
            positive = bool(w[0] > 0.0)  # python_round_trip
            loss = tf.constant(5.0) if positive else tf.constant(6.0)
    """,
    "a condition of a comprehension": """
        with tf.GradientTape() as tape:
            level = float(w[0])  # python_round_trip
            loss = tf.add_n([tf.constant(2.0) for i in range(3) if i < level])
    """,
    "setattr and getattr": """
        class Box:
            pass

        with tf.GradientTape() as tape:
            setattr(Box, "value", w.numpy())  # numpy_round_trip
            loss = tf.reduce_sum(tf.add(getattr(Box, "value"), 2.0))
    """,
    "an augmented assignment": """
        with tf.GradientTape() as tape:
            loss = tf.constant(0.0)
            for a, b in zip(w.numpy(), [3.0, 4.0]):  # numpy_round_trip
                loss += a * b
    """,
    "a decorator": """
        def as_numpy(f):
            def wrapped(*args):
                return f(*args).numpy()  # numpy_round_trip
            return wrapped

        @as_numpy
        def energy(v):
            return tf.reduce_sum(v**2)

        with tf.GradientTape() as tape:
            loss = tf.sqrt(energy(w))
    """,
    "a NumPy function that writes to an array": """
        array = np.zeros(2, np.float32)
        with tf.GradientTape() as tape:
            np.copyto(array, w)  # numpy_round_trip
            loss = tf.reduce_sum(tf.constant(array))
    """,
    "the argument out": """
        array = np.zeros(2, np.float32)
        with tf.GradientTape() as tape:
            np.exp(w.numpy(), out=array)  # numpy_round_trip
            loss = tf.reduce_sum(tf.constant(array))
    """,
    "a value that is only kept": """
        history = []
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w**2)
            history.append(loss.numpy() if len(history) < 5 else 0.0)
            loss += 1.0
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_cause_and_its_line(name, tmp_path):
    header = "import numpy as np\nimport gradtape as tf\nw = tf.Variable([1.0, 2.0])\n"
    text = header + re.sub(r"(?m)^ {8}", "", PROGRAMS[name])
    path = tmp_path / "program.py"
    path.write_text(text)
    marks = [
        (mark[1], number)
        for number, line in enumerate(text.splitlines(), 1)
        if (mark := re.search(r"  # (\w+)$", line))
    ]
    names: dict = {}
    with tf.debug.explain():
        exec(compile(text, str(path), "exec"), names)
    answer = names["tape"].explain(names["loss"], names["w"])
    assert (answer.cause, answer.line) == (marks or [(None, None)])[0]
    assert answer.certain
