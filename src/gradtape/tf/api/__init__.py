"""Tables of TensorFlow's public names, one module per namespace: `tf.math` is `api/math.py`."""
