"""The names of a node's keyword arguments come from the file; they must not get into source that is executed."""

import os
import tempfile

import models
from checking import check, end

import gradtape as tf

folder = tempfile.mkdtemp()
proof = os.path.join(folder, "proof")


class Branches(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([2], tf.float32)])
    def __call__(self, x):
        return tf.cond(
            tf.reduce_sum(x) > 100.0,
            lambda: tf.linalg.det(tf.linalg.diag(x)) * x,
            lambda: tf.cos(x),
        )


def hostile(tree):
    for node in models.nodes(tree):
        if isinstance(node.get("static"), dict):
            node["static"][f"a=open({proof!r}, 'w'),b"] = 1


path = os.path.join(folder, "model")
models.save(Branches(), path, hostile)
check(
    "what the victim sees", models.refused, models.use(path, *[[1.0, 2.0]] * 3, *[[99.0, 99.0]] * 3)
)


def only_det(tree):
    for node in models.nodes(tree):
        if node.get("op") in ("det", "matrix_determinant"):
            node["static"][f"a=open({proof!r}, 'w'),b"] = 1


path = os.path.join(folder, "second")
models.save(Branches(), path, only_det)
models.use(path, *[[1.0, 2.0]] * 3)
models.use(path, *[[99.0, 99.0]] * 3)
check("the text of a keyword's name has been executed", False, os.path.exists(proof))
end()
