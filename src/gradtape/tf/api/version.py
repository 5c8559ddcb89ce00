"""tf.version: the version of TensorFlow that gradtape reproduces."""

VERSION = "2.21.0"
GIT_VERSION = "gradtape-0.2.0"  # the version of gradtape itself
COMPILER_VERSION = "none"
GRAPH_DEF_VERSION = 2474
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0
