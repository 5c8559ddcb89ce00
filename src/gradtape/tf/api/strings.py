"""tf.strings: operations on string tensors."""

from gradtape.tf.strings.byte_string import bytes_split as bytes_split
from gradtape.tf.strings.byte_string import length as length
from gradtape.tf.strings.byte_string import lower as lower
from gradtape.tf.strings.byte_string import split as split
from gradtape.tf.strings.byte_string import strip as strip
from gradtape.tf.strings.byte_string import substr as substr
from gradtape.tf.strings.byte_string import upper as upper
from gradtape.tf.strings.conversion import as_string as as_string
from gradtape.tf.strings.conversion import format as format
from gradtape.tf.strings.conversion import to_number as to_number
from gradtape.tf.strings.hash_bucket import to_hash_bucket as to_hash_bucket
from gradtape.tf.strings.hash_bucket import to_hash_bucket_fast as to_hash_bucket_fast
from gradtape.tf.strings.hash_bucket import to_hash_bucket_strong as to_hash_bucket_strong
from gradtape.tf.strings.join import join as join
from gradtape.tf.strings.join import ngrams as ngrams
from gradtape.tf.strings.join import reduce_join as reduce_join
from gradtape.tf.strings.join import unsorted_segment_join as unsorted_segment_join
from gradtape.tf.strings.regex import regex_full_match as regex_full_match
from gradtape.tf.strings.regex import regex_replace as regex_replace
from gradtape.tf.strings.unicode import unicode_decode as unicode_decode
from gradtape.tf.strings.unicode import unicode_decode_with_offsets as unicode_decode_with_offsets
from gradtape.tf.strings.unicode import unicode_encode as unicode_encode
from gradtape.tf.strings.unicode import unicode_split as unicode_split
from gradtape.tf.strings.unicode import unicode_split_with_offsets as unicode_split_with_offsets
from gradtape.tf.strings.unicode import unicode_transcode as unicode_transcode
