"""tf.experimental.extension_type."""

from gradtape.tf.extension_type.extension_type import as_dict as as_dict
