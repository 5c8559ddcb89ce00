"""TensorFlow's namespaces as tables of names: `tf.math` is `api/math.py`."""
