"""tf.summary.audio writes."""

import glob
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import numpy as np
from checking import check, end

import gradtape as tf

folder = tempfile.mkdtemp()


def written():
    with tf.summary.create_file_writer(folder).as_default():
        return bool(tf.summary.audio("a", np.zeros((1, 100, 1), "float32"), 8000, step=0))


check("tf.summary.audio", True, written)
check("files", 1, len(glob.glob(folder + "/*")))
end()
