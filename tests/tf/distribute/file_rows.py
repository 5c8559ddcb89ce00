"""Prints the rows of each step that a worker gets of a dataset of files, by policy and pipeline.

Runs on gradtape and on TensorFlow. The first argument is a folder of text files.
"""

import json
import os
import sys

import tensorflow as tf

folder, policy, pipeline = sys.argv[1:4]
strategy = tf.distribute.MultiWorkerMirroredStrategy()
names = sorted(os.path.join(folder, name) for name in os.listdir(folder))


def make_dataset():
    """The lines of the files as numbers, in batches of four."""
    if pipeline == "reader":
        lines = tf.data.TextLineDataset(names)
    elif pipeline == "interleave":
        files = tf.data.Dataset.list_files(os.path.join(folder, "*.txt"), shuffle=False)
        lines = files.interleave(tf.data.TextLineDataset, cycle_length=2)
    elif pipeline == "flat_map":
        files = tf.data.Dataset.from_tensor_slices(names)
        lines = files.flat_map(lambda name: tf.data.TextLineDataset(name).skip(1))
    elif pipeline == "memory":
        return tf.data.Dataset.range(12).batch(4)
    numbers = lines.map(lambda line: tf.strings.to_number(line, tf.int64))
    return numbers.batch(4).prefetch(2)


options = tf.data.Options()
options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy[policy]
steps, problem = [], ""
try:
    dataset = make_dataset().with_options(options)
    for batch in strategy.experimental_distribute_dataset(dataset):
        (local,) = strategy.experimental_local_results(batch)
        steps.append([int(x) for x in local.numpy()])
except (tf.errors.NotFoundError, tf.errors.InvalidArgumentError) as error:
    problem = type(error).__name__
print("RESULT", json.dumps([steps, problem]), flush=True)
