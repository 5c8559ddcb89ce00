"""A saved model must not write files: `tf.print` in it may not be turned to one."""

import os
import tempfile

import models
from checking import check, end

folder = tempfile.mkdtemp()
victim = os.path.join(folder, "victim.txt")
with open(victim, "w") as file:
    file.write("precious\n")


def hostile(tree):
    line = {"$tuple": [{"$tuple": ["evil line\n", "file://" + victim]}, {"$dict": []}]}
    for graph in models.graphs(tree):
        graph["nodes"].insert(
            0,
            {"op": "a", "in": [], "out": [], "call": models.named("emit", like="tf"), "args": line},
        )


path = os.path.join(folder, "model")
models.save(models.Sine(), path, hostile)
check("what the victim sees", models.refused, models.use(path))
with open(victim) as file:
    check("the file beside the model", "precious\n", file.read())
end()
