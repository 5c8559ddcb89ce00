"""With nothing but the base install (no protobuf, no Pillow, no Keras), asking for a name is answered, not an ImportError."""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from checking import check, end

CODE = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("google", "google_crc32c", "PIL", "keras", "jax", "jaxlib"):
            raise ModuleNotFoundError("No module named " + repr(name), name=name)
sys.meta_path.insert(0, Absent())
import gradtape as tf
print([hasattr(tf, n) for n in ("train", "saved_model", "io", "image", "summary")], end=" ")
print(hasattr(tf.train, "Checkpoint"), hasattr(tf.saved_model, "save"), "train" in dir(tf))
"""
done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
said = done.stdout.strip() if done.returncode == 0 else done.stderr.strip().splitlines()[-1]
check("hasattr on a bare install", "[True, True, True, True, True] True True True", said)
end()
