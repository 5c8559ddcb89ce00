"""tf.io: files, records, examples, pictures, and tensors as bytes."""

from gradtape.tf import gfile as gfile
from gradtape.tf.csv import decode_csv as decode_csv
from gradtape.tf.parsing import FixedLenFeature as FixedLenFeature
from gradtape.tf.parsing import FixedLenSequenceFeature as FixedLenSequenceFeature
from gradtape.tf.parsing import SparseFeature as SparseFeature
from gradtape.tf.parsing import VarLenFeature as VarLenFeature
from gradtape.tf.parsing import parse_example as parse_example
from gradtape.tf.parsing import parse_single_example as parse_single_example
from gradtape.tf.picture import decode_and_crop_jpeg as decode_and_crop_jpeg
from gradtape.tf.picture import decode_bmp as decode_bmp
from gradtape.tf.picture import decode_gif as decode_gif
from gradtape.tf.picture import decode_image as decode_image
from gradtape.tf.picture import decode_jpeg as decode_jpeg
from gradtape.tf.picture import decode_png as decode_png
from gradtape.tf.picture import encode_jpeg as encode_jpeg
from gradtape.tf.picture import encode_png as encode_png
from gradtape.tf.picture import extract_jpeg_shape as extract_jpeg_shape
from gradtape.tf.picture import is_jpeg as is_jpeg
from gradtape.tf.record import TFRecordOptions as TFRecordOptions
from gradtape.tf.record import TFRecordWriter as TFRecordWriter
from gradtape.tf.sequence_parsing import (
    parse_single_sequence_example as parse_single_sequence_example,
)
from gradtape.tf.serialization import decode_base64 as decode_base64
from gradtape.tf.serialization import decode_compressed as decode_compressed
from gradtape.tf.serialization import decode_json_example as decode_json_example
from gradtape.tf.serialization import decode_raw as decode_raw
from gradtape.tf.serialization import encode_base64 as encode_base64
from gradtape.tf.serialization import matching_files as matching_files
from gradtape.tf.serialization import parse_tensor as parse_tensor
from gradtape.tf.serialization import read_file as read_file
from gradtape.tf.serialization import serialize_tensor as serialize_tensor
from gradtape.tf.serialization import write_file as write_file
