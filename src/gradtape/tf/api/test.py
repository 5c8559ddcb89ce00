"""tf.test: TestCase, the gradient check, and queries of the build."""

from gradtape.tf.gradients import compute_gradient as compute_gradient
from gradtape.tf.test.environment import disable_with_predicate as disable_with_predicate
from gradtape.tf.test.environment import gpu_device_name as gpu_device_name
from gradtape.tf.test.environment import is_built_with_cuda as is_built_with_cuda
from gradtape.tf.test.environment import is_built_with_gpu_support as is_built_with_gpu_support
from gradtape.tf.test.environment import is_built_with_rocm as is_built_with_rocm
from gradtape.tf.test.environment import is_built_with_xla as is_built_with_xla
from gradtape.tf.test.environment import is_gpu_available as is_gpu_available
from gradtape.tf.test.environment import main as main
from gradtape.tf.test.environment import with_eager_op_as_function as with_eager_op_as_function
from gradtape.tf.test.test_case import TestCase as TestCase
