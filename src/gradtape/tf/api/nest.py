"""tf.nest: nested structures."""

from gradtape.core import nest as _nest
from gradtape.core.errors import public as _public
from gradtape.core.nest import flatten as flatten
from gradtape.core.nest import is_nested as is_nested
from gradtape.tf.public_op import name_functions as _name_functions

assert_same_structure = _public(_nest.assert_same_structure)
map_structure = _public(_nest.map_structure)
pack_sequence_as = _public(_nest.pack_sequence_as)

_name_functions(__name__, globals(), makers=(_nest.__name__,))
