"""tf.experimental."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

from gradtape.core.dtypes import float4_e2m1fn as float4_e2m1fn
from gradtape.core.dtypes import float8_e4m3b11fnuz as float8_e4m3b11fnuz
from gradtape.core.dtypes import float8_e4m3fn as float8_e4m3fn
from gradtape.core.dtypes import float8_e4m3fnuz as float8_e4m3fnuz
from gradtape.core.dtypes import float8_e5m2 as float8_e5m2
from gradtape.core.dtypes import float8_e5m2fnuz as float8_e5m2fnuz
from gradtape.core.dtypes import int2 as int2
from gradtape.core.dtypes import int4 as int4
from gradtape.core.dtypes import uint2 as uint2
from gradtape.core.dtypes import uint4 as uint4
from gradtape.core.ragged.row_partition import RowPartition as RowPartition
from gradtape.pipeline.optional import Optional as Optional
from gradtape.tf.experimental import dlpack as dlpack
from gradtape.tf.experimental import extension_type as extension_type
from gradtape.tf.extension_type.dispatch import dispatch_for_api as dispatch_for_api
from gradtape.tf.extension_type.dispatch import (
    dispatch_for_binary_elementwise_apis as dispatch_for_binary_elementwise_apis,
)
from gradtape.tf.extension_type.dispatch import (
    dispatch_for_binary_elementwise_assert_apis as dispatch_for_binary_elementwise_assert_apis,
)
from gradtape.tf.extension_type.dispatch import (
    dispatch_for_unary_elementwise_apis as dispatch_for_unary_elementwise_apis,
)
from gradtape.tf.extension_type.dispatch import unregister_dispatch_for as unregister_dispatch_for
from gradtape.tf.extension_type.extension_type import ExtensionType as ExtensionType
from gradtape.tf.extension_type.extension_type import ExtensionTypeSpec as ExtensionTypeSpec

if TYPE_CHECKING:
    from gradtape.tf.api import numpy as numpy


def __getattr__(name: str) -> object:
    """Load `numpy` when it is first used."""
    if name == "numpy":
        return _import_module("gradtape.tf.api.numpy")
    raise AttributeError(f"module 'gradtape.tf.api.experimental' has no attribute {name!r}.")
