"""Arguments for a call of each raw op: by parameter name, with exceptions by op."""

from pathlib import Path

DEFAULTS = {
    "x": "[0.3, 0.7]",
    "y": "[0.5, 2.0]",
    "dy": "[1.0, -2.0]",
    "a": "[0.5, 2.0]",
    "b": "[1.5, 0.25]",
    "input": "[[1.0, 5.0, 2.0], [4.0, 2.0, 8.0]]",
    "axis": "0",
    "features": "[-1.0, 0.5, 7.0]",
    "gradients": "[2.0, 3.0, 4.0]",
    "outputs": "[-0.5, 0.5, 7.0]",
    "logits": "[[1.0, 2.0], [0.5, -1.0]]",
    "data": "[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]",
    "segment_ids": "[0, 0, 1]",
    "num_segments": "3",
    "shape": "[2, 3]",
    "seed": "[1, 2]",
    "dtype": "tf.float32",
    "images": "IMAGE",
    "image": "IMAGE",
    "size": "[3, 5]",
    "ksize": "[1, 2, 2, 1]",
    "strides": "[1, 1, 1, 1]",
    "padding": "'SAME'",
    "tensor": "[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]",
    "values": "[[1.0, 2.0], [3.0, 4.0]]",
    "indices": "[[0], [2]]",
    "updates": "[[7.0, 8.0], [9.0, 10.0]]",
    "matrix": "[[4.0, 1.0], [2.0, 3.0]]",
    "rhs": "[[1.0], [2.0]]",
    "params": "[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]",
    "filename": "FILE",
}

# By op: arguments that differ from the defaults.
CALLS = Path(__file__).with_suffix(".txt").read_text()


NAMES = {
    "LSTM": "cs_prev=tf.ones([1, 2]), h_prev=tf.ones([1, 2]), w=tf.ones([4, 8]), wci=tf.ones([2]), "
    "wcf=tf.ones([2]), wco=tf.ones([2]), b=tf.ones([8]), x=tf.ones([1, 2])",
    "NORM_GRAD": "scale=[1.0, 2.0, 3.0], reserve_space_1=[0.1, 0.2, 0.3], "
    "reserve_space_2=[1.0, 2.0, 3.0]",
    "NORM": "scale=[1.0, 2.0, 3.0], offset=[0.5, 0.0, 1.0], mean=[0.1, 0.2, 0.3], "
    "variance=[1.0, 2.0, 3.0]",
}
