"""tf.experimental.ExtensionType: classes of the user whose fields are tensors."""
