"""The file of an asset lies in the model's folder, whatever name the model gives it."""

import os
import tempfile

import models
from checking import check, end

import gradtape as tf

folder = tempfile.mkdtemp()
secret = os.path.join(folder, "secret.txt")
with open(secret, "w") as file:
    file.write("secret")
words = os.path.join(folder, "words.txt")
with open(words, "w") as file:
    file.write("a\nb\n")


class WithAsset(models.Sine):
    def __init__(self):
        super().__init__()
        self.words = tf.saved_model.Asset(words)


def hostile(tree):
    for thing in tree["objects"]:
        if thing.get("kind") == "asset":
            thing["file"] = "../../secret.txt"


path = os.path.join(folder, "model")
models.save(WithAsset(), path, hostile)


def outside():
    try:
        found = tf.saved_model.load(path).words.asset_path.numpy().decode()
    except Exception as error:
        print(f"  refused: {type(error).__name__}: {error}")
        return False
    return os.path.realpath(found) == os.path.realpath(secret)


check("an asset points to a file outside of the model", False, outside)
end()
