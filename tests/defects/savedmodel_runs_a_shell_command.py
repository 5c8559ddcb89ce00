"""A saved model must not be able to run a program: its nodes may not call what is not an op."""

import os
import tempfile

import models
from checking import check, end

folder = tempfile.mkdtemp()
proof = os.path.join(folder, "proof")


def hostile(tree):
    nodes = [
        {
            "op": "a",
            "in": [],
            "out": [9100],
            "call": models.named("Lazy", "LazyModule", like="ops"),
            "args": ["os"],
            "flags": [False, False],
        },
        {
            "op": "b",
            "in": [{"$value": 9100}],
            "out": [9101],
            "call": models.named("chosen", like="ops"),
            "args": [{"$hole": 0}, "system", {"$dtype": ["float32", False]}, f"echo ran > {proof}"],
            "flags": [False, False],
        },
    ]
    for graph in models.graphs(tree):
        graph["nodes"][:0] = nodes


path = os.path.join(folder, "model")
models.save(models.Sine(), path, hostile)
check("what the victim sees", models.refused, models.use(path))
check("a command in the model has been run", False, os.path.exists(proof))
end()
