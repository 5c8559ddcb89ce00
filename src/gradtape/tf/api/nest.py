"""tf.nest: nested structures."""

from gradtape.core.nest import assert_same_structure as assert_same_structure
from gradtape.core.nest import flatten as flatten
from gradtape.core.nest import is_nested as is_nested
from gradtape.core.nest import map_structure as map_structure
from gradtape.core.nest import pack_sequence_as as pack_sequence_as
