"""A saved model one of whose characters has changed is refused with DataLossError; never another result, never a KeyError."""

import os
import tempfile

from checking import Raises, check, end

import gradtape as tf

path = tempfile.mkdtemp()
module = tf.Module()
module.v = tf.Variable(2.0)
module.f = tf.function(
    lambda x: x * module.v + 3.0, input_signature=[tf.TensorSpec([], tf.float32)]
)
tf.saved_model.save(module, path)
check("the file as it was written", 13.0, lambda: tf.saved_model.load(path).f(tf.constant(5.0)))

name = os.path.join(path, "gradtape_model.json")
with open(name, "rb") as file:
    good = file.read()
changes = [
    (b'"children"', b'"childres"'),
    (b'"programs"', b'"programz"'),
    (b"float32", b"floaz32"),
    (b'"in":[', b'"in":7,"x":['),
    (b'{"$value":0}', b'{"$value":1}'),
    (b"multiply", b"subtract"),
    (b'"out":[', b'"out":[1'),
]
for old, new in changes:
    if old not in good:
        continue
    with open(name, "wb") as file:
        file.write(good.replace(old, new, 1))
    refused = Raises(tf.errors.DataLossError)
    check(
        f"{old.decode()} became {new.decode()}",
        refused,
        lambda: tf.saved_model.load(path).f(tf.constant(5.0)),
    )
for share in (0.25, 0.5, 0.9):
    with open(name, "wb") as file:
        file.write(good[: int(len(good) * share)])
    check(
        f"cut off after {share:.0%}",
        Raises(tf.errors.DataLossError),
        lambda: tf.saved_model.load(path),
    )
end()
