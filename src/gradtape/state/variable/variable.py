"""Variable: a tensor that can be assigned to, and the alias of it that `assign` returns."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.argument import check_text
from gradtape.core.context import local
from gradtape.core.convert import convert
from gradtape.core.enums import VariableAggregation, VariableSynchronization
from gradtape.core.errors import public
from gradtape.core.ledger import ledger
from gradtape.core.name_scope import current_scope
from gradtape.core.origin import note_assign
from gradtape.core.ports import make_html
from gradtape.core.reference import Reference
from gradtape.core.shapes import TensorShape
from gradtape.core.tensor import Tensor, TensorLike, format_value
from gradtape.ops.elementwise import identity
from gradtape.ops.gather_scatter import gather
from gradtape.state.checkpoint.trackable import Trackable
from gradtape.state.variable import initialization, scatter_kernel
from gradtape.state.variable.assign import AssignMethods
from gradtape.state.variable.creator import VariableType
from gradtape.state.variable.handle import VariableHandle
from gradtape.state.variable.operator import OperatorMethods
from gradtape.state.variable.scatter import ScatterMethods
from gradtape.state.variable.storage import VariableStorage, active_trace
from gradtape.state.variable.tf1 import Tf1Methods

next_variable_key = itertools.count(1).__next__


if TYPE_CHECKING:

    class VariableSlice(Tensor):
        """A slice of a variable, which can be assigned to."""

        def assign(self, value: Any, name: str | None = None) -> Variable:
            """Write `value` to this slice of the variable."""


class Variable(
    VariableStorage,
    OperatorMethods,
    AssignMethods,
    ScatterMethods,
    Tf1Methods,
    TensorLike,
    Trackable,
    metaclass=VariableType,
):
    """A tensor that can be assigned to.

    Args:
        initial_value: the first value, or a function without arguments that returns it.
        trainable: whether tapes watch it when it is read; True unless `synchronization` is ON_READ.
        validate_shape: ignored; `shape` determines what may be assigned.
        caching_device: ignored.
        name: "Variable" if None; the name scope is added as a prefix.
        variable_def: ignored.
        dtype: dtype of the value, by default that of `initial_value`.
        import_scope: ignored.
        constraint: a function that an optimizer applies to new values; stored, not called here.
        synchronization: how replicas are synchronized; only stored.
        aggregation: how values of replicas are combined; only stored.
        shape: shape of the values that may be assigned, by default that of `initial_value`;
            dimensions may be None.
        experimental_enable_variable_lifting: ignored.

    Raises:
        ValueError: if `initial_value` is missing or does not match `shape` or `dtype`.

    Example:
        >>> v = tf.Variable([1.0, 2.0])
        >>> v.assign_add([1.0, 1.0]).numpy()
        array([2., 3.], dtype=float32)
    """

    _should_act_as_resource_variable = True

    @public
    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        import_scope: Any = None,
        constraint: Callable[[Any], Any] | None = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
        shape: Any = None,
        experimental_enable_variable_lifting: bool = True,
    ) -> None:
        if initial_value is None:
            raise ValueError(
                "tf.Variable: the argument `initial_value` must be given. Pass a value, or a "
                "function that returns one."
            )
        if constraint is not None and not callable(constraint):
            raise ValueError(
                f"tf.Variable: `constraint` must be None or a callable. Received {constraint!r} "
                f"of {type(constraint)}."
            )
        synchronization = initialization.check_enum(
            VariableSynchronization, synchronization, "synchronization", name
        )
        if trainable is None:
            trainable = synchronization is not VariableSynchronization.ON_READ
        if name is not None:
            check_text(name, "name")
        tensor = initialization.make_initial_value(initial_value, dtype)
        self._name = current_scope() + ("Variable" if name is None else name)
        self._trainable = trainable
        self._shape = tensor.shape if shape is None else TensorShape(shape)
        if not self._shape.is_compatible_with(tensor.shape):
            raise ValueError(
                f"tf.Variable: the initial value's shape {tensor.shape} is not "
                f"compatible with the `shape` argument {self._shape}. Leave `shape` out, "
                "or use None for dimensions that may change."
            )
        self._synchronization = synchronization
        self._aggregation: VariableAggregation = initialization.check_enum(
            VariableAggregation, aggregation, "aggregation", name
        )
        self._constraint = constraint
        self._key = next_variable_key()
        self._dtype = tensor.dtype
        trace = active_trace()
        VariableStorage.__init__(
            self, tensor._array if trace is None else trace.create_variable(self, tensor)
        )
        if ledger.active:
            note_assign(self, "variable")

    @property
    def _target_variable(self) -> Variable:
        """The variable itself; an alias returns the variable it stands for."""
        return self

    @property
    def handle(self) -> VariableHandle:
        """Handle that identifies the variable."""
        return VariableHandle(self)

    @property
    def name(self) -> str:
        """The name with its scopes and the suffix `:0`."""
        return f"{self._name}:0"

    @property
    def _shared_name(self) -> str:
        return self._name

    @property
    def _unique_id(self) -> str:
        return f"{self._name}_{self._key}"

    @property
    def dtype(self) -> dtypes.DType:
        """The element type, which never changes."""
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        """Static shape; None for dimensions that may change."""
        return self._shape

    def get_shape(self) -> TensorShape:
        """The static shape."""
        return self._shape

    @public
    def set_shape(self, shape: Any) -> None:
        """Merge `shape` into the static shape.

        Args:
            shape: a shape that the value has.
        """
        self._shape = self._shape.merge_with(shape)

    @property
    def trainable(self) -> bool:
        """Whether tapes watch the variable when it is read."""
        return self._trainable

    @property
    def constraint(self) -> Callable[[Any], Any] | None:
        """The function an optimizer should apply to new values."""
        return self._constraint

    @property
    def synchronization(self) -> VariableSynchronization:
        """How replicas are synchronized."""
        return self._synchronization

    @property
    def aggregation(self) -> VariableAggregation:
        """How values of replicas are combined."""
        return self._aggregation

    @property
    def device(self) -> str:
        """Device of the value."""
        return self._stored_version().device

    def ref(self) -> Reference:
        """A hashable reference to this variable."""
        return Reference(self)

    experimental_ref = ref

    def __hash__(self) -> int:
        raise TypeError(
            f"Variable is unhashable. Instead, use variable.ref() as the key. (Variable: {self!r})"
        )

    def __repr__(self) -> str:
        dtype = self.dtype.name
        if active_trace() is not None:
            return f"<tf.Variable {self.name!r} shape={self._shape} dtype={dtype}>"
        text = format_value(self._stored_version()._array)
        return f"<tf.Variable {self.name!r} shape={self._shape} dtype={dtype}, numpy={text}>"

    _repr_html_ = make_html

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Tensor:
        if dtype is not None and dtype is not self.dtype:
            raise ValueError(
                f"Incompatible type conversion requested to type {dtype.name} for a tf.Variable of "
                f"type {self.dtype.name}: {self!r}. Cast it instead."
            )
        return self._read()

    def value(self) -> Tensor:
        """The current value as a new tensor; later assignments do not change it.

        Returns:
            A tensor.
        """
        return identity(self._read())

    def read_value(self) -> Tensor:
        """The current value as a new tensor; later assignments do not change it.

        Returns:
            A tensor.
        """
        return self.value()

    def read_value_no_copy(self) -> Tensor:
        """The current value as a new tensor; later assignments do not change it."""
        return self.value()

    def numpy(self) -> np.ndarray[Any, Any]:
        """A copy of the value as a NumPy array, or as a NumPy scalar."""
        if active_trace() is not None:
            raise NotImplementedError(
                "tf.Variable.numpy() is only available when eager execution is enabled. Inside "
                "tf.function use the variable itself."
            )
        return self._read().numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        array = self._current_version().__array__(copy=True)  # type: ignore[attr-defined]
        return array if dtype is None else array.astype(dtype, copy=False)

    @public
    def sparse_read(self, indices: Any, name: str | None = None) -> Tensor:
        """Rows of the variable, as `tf.gather`.

        Args:
            indices: an integer tensor of row numbers.
            name: ignored.

        Returns:
            A tensor.
        """
        return gather(self._read(), convert(indices), axis=-self._stored_version().ndim)

    @public
    def gather_nd(self, indices: Any, name: str | None = None) -> Tensor:
        """Elements or slices of the variable, as `tf.gather_nd`.

        Args:
            indices: an integer tensor; its last axis holds an index, or the first parts of one.
            name: ignored.

        Returns:
            A tensor.
        """
        from gradtape.ops.gather_scatter_nd import gather_nd

        return gather_nd(self._read(), convert(indices), rank=self._stored_version().ndim)

    @public
    def __getitem__(self, key: Any) -> VariableSlice:
        tensor: Any = self._read()[key]
        if not scatter_kernel.is_mask(key):
            tensor.assign = functools.partial(self._assign_slice, key)
        return tensor

    def _assignment_result(self, read_value: bool = True) -> Any:
        """The result of an assignment; returning the variable counts as reading it."""
        if ledger.active:
            note_assign(self)
        if not read_value:
            return None
        recorders = local.recorders
        if recorders:
            uid = self._current_version().uid
            for recorder in recorders:
                recorder.on_variable_read(self, uid)
        unread: UnreadVariable = type.__call__(UnreadVariable)  # the metaclass adds Python code
        unread._variable = self
        return unread

    def _serialize_to_tensors(self) -> dict[str, Any]:
        return {"VARIABLE_VALUE": self._target_variable._stored_version()}

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> None:
        self.assign(restored_tensors["VARIABLE_VALUE"], read_value=False)

    def __copy__(self) -> Variable:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Variable:
        copy = memo[id(self)] = initialization.rebuild_variable(*self.__reduce__()[1])
        return copy

    def __reduce__(self) -> tuple[Any, ...]:
        facts = {
            "trainable": self._trainable,
            "shape": self._shape,
            "constraint": self._constraint,
            "synchronization": self._synchronization,
            "aggregation": self._aggregation,
        }
        return initialization.rebuild_variable, (self._stored_version(), self._name, facts)


class UnreadVariable(Variable):
    """The result of `assign`: an alias of the variable that reads it on access."""

    __init__ = object.__init__  # fast: most are never used, so no Python code runs to make one
    _variable: Variable

    def __getattr__(self, name: str) -> Any:
        if name == "_variable":
            raise AttributeError(name)
        return getattr(self._variable, name)

    @property
    def name(self) -> str:
        """The fixed name that TensorFlow uses."""
        return "UnreadVariable"

    @property
    def handle(self) -> VariableHandle:
        """The handle of the variable."""
        return self._variable.handle

    @property
    def _target_variable(self) -> Variable:
        return self._variable

    def _stored_version(self) -> Tensor:
        return self._variable._stored_version()

    def _current_version(self) -> Tensor:
        return self._variable._current_version()

    def _read(self) -> Tensor:
        return self._variable._read()

    def _install(self, raw: Any) -> None:
        self._variable._install(raw)

    def _update(self, function: Callable[..., Any], *args: Any) -> None:
        self._variable._update(function, *args)

    def _assignment_result(self, read_value: bool = True) -> Any:
        return self._variable._assignment_result(read_value)


Variable.__name__ = "ResourceVariable"  # as `type(v).__name__` in TensorFlow
