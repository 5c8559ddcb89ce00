"""tf.experimental."""

from gradtape.pipeline.optional import Optional as Optional
from gradtape.tf import dlpack as dlpack
