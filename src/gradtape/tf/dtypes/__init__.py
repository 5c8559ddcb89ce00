"""Parts of tf.dtypes that are namespaces of their own."""
