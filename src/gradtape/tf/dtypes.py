"""tf.dtypes: element types, and conversion between them."""

from gradtape.core.convert import Handed
from gradtape.core.dtypes import QUANTIZED_DTYPES as QUANTIZED_DTYPES
from gradtape.core.dtypes import DType as DType
from gradtape.core.dtypes import as_dtype as as_dtype
from gradtape.core.dtypes import bfloat16 as bfloat16
from gradtape.core.dtypes import bool as bool
from gradtape.core.dtypes import complex64 as complex64
from gradtape.core.dtypes import complex128 as complex128
from gradtape.core.dtypes import double as double
from gradtape.core.dtypes import float16 as float16
from gradtape.core.dtypes import float32 as float32
from gradtape.core.dtypes import float64 as float64
from gradtape.core.dtypes import half as half
from gradtape.core.dtypes import int8 as int8
from gradtape.core.dtypes import int16 as int16
from gradtape.core.dtypes import int32 as int32
from gradtape.core.dtypes import int64 as int64
from gradtape.core.dtypes import qint8 as qint8
from gradtape.core.dtypes import qint16 as qint16
from gradtape.core.dtypes import qint32 as qint32
from gradtape.core.dtypes import quint8 as quint8
from gradtape.core.dtypes import quint16 as quint16
from gradtape.core.dtypes import resource as resource
from gradtape.core.dtypes import string as string
from gradtape.core.dtypes import uint8 as uint8
from gradtape.core.dtypes import uint16 as uint16
from gradtape.core.dtypes import uint32 as uint32
from gradtape.core.dtypes import uint64 as uint64
from gradtape.core.dtypes import variant as variant
from gradtape.tf.casting import cast as cast
from gradtape.tf.casting import complex as complex
from gradtape.tf.casting import saturate_cast as saturate_cast

Handed.cast = cast
