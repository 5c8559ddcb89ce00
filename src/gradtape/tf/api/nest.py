"""tf.nest: nested structures."""

from gradtape.core import nest
from gradtape.core.errors import public
from gradtape.core.nest import is_nested as is_nested

assert_same_structure = public(nest.assert_same_structure)
flatten = public(nest.flatten)
map_structure = public(nest.map_structure)
pack_sequence_as = public(nest.pack_sequence_as)
