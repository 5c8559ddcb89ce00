"""Saving again and again with a CheckpointManager must not make the process grow. (Our own aim: in TensorFlow it does.)"""

import gc
import tempfile

from checking import check, end

import gradtape as tf

manager = tf.train.CheckpointManager(
    tf.train.Checkpoint(v=tf.Variable(1.0)), tempfile.mkdtemp(), max_to_keep=2
)


def count(saves):
    for _ in range(saves):
        manager.save()
    gc.collect()
    return len(gc.get_objects())


def few(came):
    """fewer than 20"""
    return came < 20


count(20)
before = count(5)
check("objects more after 60 saves", few, count(60) - before)
end()
