"""Scalars of an event file can be read back with summary_iterator and compat.v1.Event."""

import glob
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from checking import check, end

import gradtape as tf

folder = tempfile.mkdtemp()
writer = tf.summary.create_file_writer(folder)
with writer.as_default():
    tf.summary.scalar("a", 1.5, step=3)
writer.close()
(path,) = glob.glob(folder + "/*")


def scalars(events):
    return [
        (e.step, v.tag, float(tf.make_ndarray(v.tensor))) for e in events for v in e.summary.value
    ]


check(
    "summary_iterator", [(3, "a", 1.5)], lambda: scalars(tf.compat.v1.train.summary_iterator(path))
)
check(
    "Event",
    [(3, "a", 1.5)],
    lambda: scalars(
        tf.compat.v1.Event.FromString(r.numpy()) for r in tf.data.TFRecordDataset(path)
    ),
)
end()
