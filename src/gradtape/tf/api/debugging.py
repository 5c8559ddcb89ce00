"""tf.debugging: assertions about tensors; they raise at once, and return None."""

from gradtape.core.traceback_filter import (
    disable_traceback_filtering as disable_traceback_filtering,
)
from gradtape.core.traceback_filter import enable_traceback_filtering as enable_traceback_filtering
from gradtape.core.traceback_filter import (
    is_traceback_filtering_enabled as is_traceback_filtering_enabled,
)
from gradtape.tf.debugging.assertion import Assert as Assert
from gradtape.tf.debugging.assertion import assert_equal as assert_equal
from gradtape.tf.debugging.assertion import assert_greater as assert_greater
from gradtape.tf.debugging.assertion import assert_greater_equal as assert_greater_equal
from gradtape.tf.debugging.assertion import assert_integer as assert_integer
from gradtape.tf.debugging.assertion import assert_less as assert_less
from gradtape.tf.debugging.assertion import assert_less_equal as assert_less_equal
from gradtape.tf.debugging.assertion import assert_near as assert_near
from gradtape.tf.debugging.assertion import assert_negative as assert_negative
from gradtape.tf.debugging.assertion import assert_non_negative as assert_non_negative
from gradtape.tf.debugging.assertion import assert_non_positive as assert_non_positive
from gradtape.tf.debugging.assertion import assert_none_equal as assert_none_equal
from gradtape.tf.debugging.assertion import assert_positive as assert_positive
from gradtape.tf.debugging.assertion import assert_proper_iterable as assert_proper_iterable
from gradtape.tf.debugging.assertion import assert_same_float_dtype as assert_same_float_dtype
from gradtape.tf.debugging.assertion import assert_scalar as assert_scalar
from gradtape.tf.debugging.assertion import assert_type as assert_type
from gradtape.tf.debugging.assertion import is_numeric_tensor as is_numeric_tensor
from gradtape.tf.debugging.check_numerics import assert_all_finite as assert_all_finite
from gradtape.tf.debugging.check_numerics import check_numerics as check_numerics
from gradtape.tf.debugging.check_numerics import disable_check_numerics as disable_check_numerics
from gradtape.tf.debugging.check_numerics import enable_check_numerics as enable_check_numerics
from gradtape.tf.debugging.device_placement import (
    get_log_device_placement as get_log_device_placement,
)
from gradtape.tf.debugging.device_placement import (
    set_log_device_placement as set_log_device_placement,
)
from gradtape.tf.debugging.shape_assertion import assert_rank as assert_rank
from gradtape.tf.debugging.shape_assertion import assert_rank_at_least as assert_rank_at_least
from gradtape.tf.debugging.shape_assertion import assert_rank_in as assert_rank_in
from gradtape.tf.debugging.shape_assertion import assert_shapes as assert_shapes
