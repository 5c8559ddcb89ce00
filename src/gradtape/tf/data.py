"""tf.data: datasets and their iterators."""

from __future__ import annotations

from types import SimpleNamespace

from gradtape.core.tensor import Tensor
from gradtape.pipeline.dataset import AUTOTUNE as AUTOTUNE
from gradtape.pipeline.dataset import INFINITE as INFINITE_CARDINALITY
from gradtape.pipeline.dataset import UNKNOWN as UNKNOWN_CARDINALITY
from gradtape.pipeline.dataset import Dataset as Dataset
from gradtape.pipeline.dataset import DatasetSpec as DatasetSpec
from gradtape.pipeline.iterator import Iterator as Iterator
from gradtape.pipeline.iterator import NumpyIterator as NumpyIterator
from gradtape.pipeline.options import (
    AutoShardPolicy,
    AutotuneOptions,
    DistributeOptions,
    ExternalStatePolicy,
    OptimizationOptions,
)
from gradtape.pipeline.options import Options as Options
from gradtape.pipeline.options import ThreadingOptions as ThreadingOptions


def cardinality(dataset: Dataset) -> Tensor:
    """The number of elements of a dataset."""
    return dataset.cardinality()


experimental = SimpleNamespace(
    AUTOTUNE=AUTOTUNE,
    INFINITE_CARDINALITY=INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY=UNKNOWN_CARDINALITY,
    AutoShardPolicy=AutoShardPolicy,
    AutotuneOptions=AutotuneOptions,
    DistributeOptions=DistributeOptions,
    ExternalStatePolicy=ExternalStatePolicy,
    OptimizationOptions=OptimizationOptions,
    ThreadingOptions=ThreadingOptions,
    cardinality=cardinality,
)
