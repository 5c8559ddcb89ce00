"""Names beyond TensorFlow's public API that Keras uses, such as `tf.__internal__`.

`private_name` has the table of private modules.

Functions that do nothing here have no effect on one device in eager mode.
"""

from __future__ import annotations

import contextlib
from types import SimpleNamespace
from typing import Any

from gradtape.core.composite_tensor import CompositeTensor
from gradtape.core.convert import convert
from gradtape.core.dimension import Dimension
from gradtape.core.sparse_tensor import SparseTensorValue
from gradtape.core.tensor import EagerTensor, TensorLike
from gradtape.dropin.distribute_internal import distribute_internal
from gradtape.dropin.eager_context import get_default_graph
from gradtape.dropin.private_name import PrivateModule
from gradtape.dropin.tpu import tpu
from gradtape.graph.scratch_graph import (
    enter_scratch_graph,
    make_placeholder,
    make_sparse_placeholder,
)
from gradtape.pipeline.optional import Optional, OptionalSpec
from gradtape.state.checkpoint.trackable import (
    AutoTrackable,
    Trackable,
    no_automatic_dependency_tracking,
)
from gradtape.state.variable.variable import Variable
from gradtape.tape.indexed_slices import IndexedSlices
from gradtape.tf.control_flow import cond_while

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


def do_nothing(*args: Any, **kwargs: Any) -> None:
    """Do nothing: eager ops have finished when they return, and nothing is cached."""


class FuncGraph:
    """The scratch graph in which Keras infers output shapes that a layer does not declare."""

    def __init__(self, name: str, *args: Any, **kwargs: Any) -> None:
        """Store the name."""
        self.name = name

    def as_default(self) -> contextlib.AbstractContextManager[Any]:
        """Scope for placeholders, in which ops only infer shapes."""
        return enter_scratch_graph()


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

EXTRA_NAMES = SimpleNamespace(
    OptionalSpec=OptionalSpec,
    __internal__=TF_INTERNAL,
    autograph=SimpleNamespace(experimental=SimpleNamespace(do_not_convert=do_not_convert)),
    compat=SimpleNamespace(
        v1=SimpleNamespace(
            Dimension=Dimension,
            SparseTensorValue=SparseTensorValue,
            colocate_with=contextlib.nullcontext,
            get_default_graph=get_default_graph,
            placeholder=make_placeholder,
            placeholder_with_default=lambda input, shape, name=None: convert(input),
            sparse_placeholder=make_sparse_placeholder,
            reset_default_graph=do_nothing,
        )
    ),
    compiler=PrivateModule("compiler"),
    experimental=SimpleNamespace(Optional=Optional, dtensor=SimpleNamespace()),
    python=PrivateModule("python"),
    tpu=tpu,
)
