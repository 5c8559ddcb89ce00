"""Names beyond TensorFlow's public API that Keras uses: `tf.__internal__` and private modules.

Functions that do nothing here have no effect on one device in eager mode.
"""

from __future__ import annotations

import contextlib
from types import SimpleNamespace
from typing import Any

import numpy as np

from gradtape.core import shape_inference
from gradtape.core.composite_tensor import CompositeTensor
from gradtape.core.convert import convert
from gradtape.core.ragged.tensor import RaggedTensor
from gradtape.core.sparse_tensor import SparseTensor
from gradtape.core.tensor import EagerTensor, Tensor, TensorLike, make_tensor
from gradtape.dropin import csr_matrix
from gradtape.dropin.distribute import distribute
from gradtape.dropin.distribute import distribute_internal as distribute_internal
from gradtape.pipeline.dataset import Dataset
from gradtape.pipeline.optional import Optional, OptionalSpec
from gradtape.state.checkpoint.trackable import (
    AutoTrackable,
    ListWrapper,
    Trackable,
    _DictWrapper,
    no_automatic_dependency_tracking,
)
from gradtape.state.variable.variable import Variable
from gradtape.tape.indexed_slices import IndexedSlices
from gradtape.tf.api import math
from gradtape.tf.array import concat_split, creation, scatter
from gradtape.tf.array import shape as array
from gradtape.tf.config.experimental import (
    disable_op_determinism,
    enable_op_determinism,
    is_op_determinism_enabled,
)
from gradtape.tf.control_flow import cond_while
from gradtape.tf.math.cast import cast

CompositeTensor.register(Variable)
CompositeTensor.register(IndexedSlices)


def return_argument(method: Any) -> Any:
    """A decorator that changes nothing."""
    return method


def do_not_convert(func: Any = None) -> Any:
    """A decorator that changes nothing: Python's control flow is never rewritten."""
    return return_argument if func is None else func


def smart_cond(
    pred: Any, true_fn: Any = None, false_fn: Any = None, name: str | None = None
) -> Any:
    """`tf.cond`: the result of `true_fn` or `false_fn`."""
    return cond_while.cond(pred, true_fn, false_fn)


def dynamic_update_slice(operand: Any, update: Any, indices: Any) -> Any:
    """`operand` with `update` written at `indices`, which are clamped so that it fits."""
    whole, block = convert(operand), convert(update)
    sizes, extent = array.shape(whole), array.shape(block)
    start = math.minimum(cast(convert(indices), sizes.dtype), sizes - extent)
    start = math.maximum(start, array.shape(start) * 0)
    ranges = [creation.range(n) for n in block.shape]
    grid = concat_split.stack(concat_split.meshgrid(*ranges, indexing="ij"), axis=-1)
    return scatter.tensor_scatter_nd_update(whole, grid + start, block)


def sparse_placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> SparseTensor:
    """A symbolic sparse tensor of a scratch graph; its values, and maybe its shape, are unknown."""
    dense = shape_inference.placeholder(dtype, shape)
    parts = []
    for lane, whole in enumerate(dense._lanes):
        sizes = np.array(whole.shape.as_list(), np.int64)
        count = min(2 + lane, int(sizes.prod()))
        places = np.stack(np.unravel_index(np.arange(count), tuple(sizes)), 1).astype(np.int64)
        values = np.ravel(whole._array)[:count]
        parts.append(SparseTensor(make_tensor(places), make_tensor(values), make_tensor(sizes)))
    return shape_inference.joined(parts[0], parts[1], depends_on_data=True)


def do_nothing(*args: Any, **kwargs: Any) -> None:
    """Do nothing: eager ops have finished when they return, and nothing is cached."""


class FuncGraph:
    """The scratch graph in which Keras infers output shapes that a layer does not declare."""

    def __init__(self, name: str, *args: Any, **kwargs: Any) -> None:
        """Store the name."""
        self.name = name

    def as_default(self) -> contextlib.AbstractContextManager[None]:
        """Scope for placeholders, in which ops only infer shapes."""
        return shape_inference.scratch()


TF_INTERNAL = SimpleNamespace(
    CompositeTensor=CompositeTensor,
    EagerTensor=EagerTensor,
    FuncGraph=FuncGraph,
    distribute=distribute_internal,
    smart_cond=SimpleNamespace(smart_cond=smart_cond),
    tf2=SimpleNamespace(enabled=lambda: True),
    tracking=SimpleNamespace(
        AutoTrackable=AutoTrackable,
        Trackable=Trackable,
        no_automatic_dependency_tracking=no_automatic_dependency_tracking,
    ),
    types=SimpleNamespace(Tensor=TensorLike),
)

CSR_OPS = SimpleNamespace(
    csr_sparse_matrix_to_sparse_tensor=csr_matrix.csr_to_sparse_tensor,
    sparse_matrix_sparse_mat_mul=csr_matrix.multiply_csr_matrices,
    sparse_tensor_to_csr_sparse_matrix=csr_matrix.make_csr_matrix,
)

TF_PYTHON = SimpleNamespace(
    eager=SimpleNamespace(
        context=SimpleNamespace(
            async_wait=do_nothing,
            context=lambda: SimpleNamespace(clear_kernel_cache=do_nothing),
        )
    ),
    framework=SimpleNamespace(
        config=SimpleNamespace(
            disable_op_determinism=disable_op_determinism,
            enable_op_determinism=enable_op_determinism,
            is_op_determinism_enabled=is_op_determinism_enabled,
        )
    ),
    ops=SimpleNamespace(
        linalg=SimpleNamespace(sparse=SimpleNamespace(sparse_csr_matrix_ops=CSR_OPS)),
        math_ops=SimpleNamespace(is_nan=lambda x, name=None: math.is_nan(x)),
    ),
    trackable=SimpleNamespace(
        data_structures=SimpleNamespace(ListWrapper=ListWrapper, _DictWrapper=_DictWrapper)
    ),
)

EXTRA_NAMES = SimpleNamespace(
    OptionalSpec=OptionalSpec,
    __internal__=TF_INTERNAL,
    autograph=SimpleNamespace(experimental=SimpleNamespace(do_not_convert=do_not_convert)),
    compat=SimpleNamespace(
        v1=SimpleNamespace(
            placeholder=shape_inference.placeholder,
            sparse_placeholder=sparse_placeholder,
            reset_default_graph=do_nothing,
        )
    ),
    compiler=SimpleNamespace(
        tf2xla=SimpleNamespace(
            python=SimpleNamespace(xla=SimpleNamespace(dynamic_update_slice=dynamic_update_slice))
        )
    ),
    distribute=distribute,
    experimental=SimpleNamespace(Optional=Optional, dtensor=SimpleNamespace()),
    python=TF_PYTHON,
)

# Keras recognises these classes by `__name__` and `__module__`.
CLASSES_KNOWN_BY_NAME: tuple[tuple[type, str, str], ...] = (
    (Tensor, "Tensor", "tensorflow.python.framework.tensor"),
    (Dataset, "DatasetV2", "tensorflow.python.data.ops.dataset_ops"),
    (SparseTensor, "SparseTensor", "tensorflow.python.framework.sparse_tensor"),
    (RaggedTensor, "RaggedTensor", "tensorflow.python.ops.ragged.ragged_tensor"),
)
