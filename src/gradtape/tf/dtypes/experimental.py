"""tf.dtypes.experimental: types of eight and fewer bits, for storage and casts."""

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
