"""tf.strings: text in tensors."""

from gradtape.tf.hashing import to_hash_bucket as to_hash_bucket
from gradtape.tf.hashing import to_hash_bucket_fast as to_hash_bucket_fast
from gradtape.tf.hashing import to_hash_bucket_strong as to_hash_bucket_strong
from gradtape.tf.text import as_string as as_string
from gradtape.tf.text import bytes_split as bytes_split
from gradtape.tf.text import format as format
from gradtape.tf.text import join as join
from gradtape.tf.text import length as length
from gradtape.tf.text import lower as lower
from gradtape.tf.text import ngrams as ngrams
from gradtape.tf.text import reduce_join as reduce_join
from gradtape.tf.text import regex_full_match as regex_full_match
from gradtape.tf.text import regex_replace as regex_replace
from gradtape.tf.text import split as split
from gradtape.tf.text import strip as strip
from gradtape.tf.text import substr as substr
from gradtape.tf.text import to_number as to_number
from gradtape.tf.text import unsorted_segment_join as unsorted_segment_join
from gradtape.tf.text import upper as upper
from gradtape.tf.unicode import unicode_decode as unicode_decode
from gradtape.tf.unicode import unicode_decode_with_offsets as unicode_decode_with_offsets
from gradtape.tf.unicode import unicode_encode as unicode_encode
from gradtape.tf.unicode import unicode_split as unicode_split
from gradtape.tf.unicode import unicode_split_with_offsets as unicode_split_with_offsets
from gradtape.tf.unicode import unicode_transcode as unicode_transcode
