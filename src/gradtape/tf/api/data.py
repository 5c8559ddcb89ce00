"""tf.data: datasets and their iterators."""

from gradtape.pipeline.base import AUTOTUNE as AUTOTUNE
from gradtape.pipeline.base import INFINITE, UNKNOWN
from gradtape.pipeline.dataset import Dataset as Dataset
from gradtape.pipeline.dataset import DatasetSpec as DatasetSpec
from gradtape.pipeline.iterator import Iterator as Iterator
from gradtape.pipeline.iterator import IteratorSpec as IteratorSpec
from gradtape.pipeline.iterator import NumpyIterator as NumpyIterator
from gradtape.pipeline.options import Options as Options
from gradtape.pipeline.options import ThreadingOptions as ThreadingOptions
from gradtape.pipeline.source.file_dataset import (
    FixedLengthRecordDataset as FixedLengthRecordDataset,
)
from gradtape.pipeline.source.file_dataset import TextLineDataset as TextLineDataset
from gradtape.pipeline.source.file_dataset import TFRecordDataset as TFRecordDataset
from gradtape.tf.data import experimental as experimental

INFINITE_CARDINALITY = INFINITE
UNKNOWN_CARDINALITY = UNKNOWN
