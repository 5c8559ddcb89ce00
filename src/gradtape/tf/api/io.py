"""tf.io: files, TFRecords, Examples, image formats, and serialized tensors."""

from gradtape.tf.image.decode import decode_and_crop_jpeg as decode_and_crop_jpeg
from gradtape.tf.image.decode import decode_bmp as decode_bmp
from gradtape.tf.image.decode import decode_gif as decode_gif
from gradtape.tf.image.decode import decode_image as decode_image
from gradtape.tf.image.decode import decode_jpeg as decode_jpeg
from gradtape.tf.image.decode import decode_png as decode_png
from gradtape.tf.image.decode import extract_jpeg_shape as extract_jpeg_shape
from gradtape.tf.image.decode import is_jpeg as is_jpeg
from gradtape.tf.image.encode import encode_jpeg as encode_jpeg
from gradtape.tf.image.encode import encode_png as encode_png
from gradtape.tf.io import gfile as gfile
from gradtape.tf.io.csv import decode_csv as decode_csv
from gradtape.tf.io.parse_example import FixedLenFeature as FixedLenFeature
from gradtape.tf.io.parse_example import FixedLenSequenceFeature as FixedLenSequenceFeature
from gradtape.tf.io.parse_example import SparseFeature as SparseFeature
from gradtape.tf.io.parse_example import VarLenFeature as VarLenFeature
from gradtape.tf.io.parse_example import parse_example as parse_example
from gradtape.tf.io.parse_example import parse_single_example as parse_single_example
from gradtape.tf.io.parse_sequence_example import (
    parse_sequence_example as parse_sequence_example,
)
from gradtape.tf.io.parse_sequence_example import (
    parse_single_sequence_example as parse_single_sequence_example,
)
from gradtape.tf.io.ragged_feature import RaggedFeature as RaggedFeature
from gradtape.tf.io.serialization import decode_base64 as decode_base64
from gradtape.tf.io.serialization import decode_compressed as decode_compressed
from gradtape.tf.io.serialization import decode_json_example as decode_json_example
from gradtape.tf.io.serialization import decode_raw as decode_raw
from gradtape.tf.io.serialization import encode_base64 as encode_base64
from gradtape.tf.io.serialization import matching_files as matching_files
from gradtape.tf.io.serialization import parse_tensor as parse_tensor
from gradtape.tf.io.serialization import read_file as read_file
from gradtape.tf.io.serialization import serialize_tensor as serialize_tensor
from gradtape.tf.io.serialization import write_file as write_file
from gradtape.tf.io.sparse_serialization import deserialize_many_sparse as deserialize_many_sparse
from gradtape.tf.io.sparse_serialization import serialize_many_sparse as serialize_many_sparse
from gradtape.tf.io.sparse_serialization import serialize_sparse as serialize_sparse
from gradtape.tf.io.tfrecord import TFRecordOptions as TFRecordOptions
from gradtape.tf.io.tfrecord import TFRecordWriter as TFRecordWriter
