"""Variable: a mutable cell. Assigning installs a new array with a new uid; tapes keep the old."""

from __future__ import annotations

import functools
import itertools
import threading
from collections.abc import Callable
from typing import Any

from gradtape.core import dtypes
from gradtape.core.context import listening, local, next_uid, staging
from gradtape.core.convert import convert
from gradtape.core.dispatch import evaluate
from gradtape.core.enums import VariableAggregation, VariableSynchronization
from gradtape.core.errors import InvalidArgumentError, OutOfRangeError, hide_library, public
from gradtape.core.scope import current_scope
from gradtape.core.shapes import TensorShape
from gradtape.core.tensor import (
    CPU,
    EagerTensor,
    Reference,
    Tensor,
    TensorLike,
    eager,
    value_repr,
)
from gradtape.ops.elementwise import add, identity, subtract
from gradtape.ops.index import gather, gather_nd
from gradtape.state import scatter
from gradtape.state.legacy import Legacy
from gradtape.state.operators import Operators
from gradtape.state.scattering import Scattering

next_key = itertools.count(1).__next__


class Handle:
    """Identity of a variable, as `tf.Variable.handle`; equal for equal variables."""

    __slots__ = ("variable",)

    dtype = dtypes.resource
    shape = TensorShape([])

    def __init__(self, variable: Variable) -> None:
        self.variable = variable

    @property
    def _cell(self) -> Variable:
        """What a tape watches where it is given a handle."""
        return self.variable

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Handle) and other.variable is self.variable

    def __hash__(self) -> int:
        return hash(self.variable._key)


class Variable(Operators, Scattering, Legacy, TensorLike):
    """A tensor that can be assigned to.

    Args:
        initial_value: the first value, or a function without arguments that returns it.
        trainable: whether tapes watch it when it is read; True unless `synchronization` is ON_READ.
        validate_shape: accepted for TensorFlow's sake; `shape` says what may be assigned.
        caching_device: accepted for TensorFlow's sake.
        name: "Variable" if None; name scopes are put in front.
        variable_def: not supported.
        dtype: of the value, by default that of `initial_value`.
        import_scope: not supported.
        constraint: a function that an optimizer applies to new values; kept, not called.
        synchronization: how replicas would be kept together; kept.
        aggregation: how values of replicas would be combined; kept.
        shape: what may be assigned, by default the shape of `initial_value`;
            dimensions may be None.
        experimental_enable_variable_lifting: accepted for TensorFlow's sake.

    Raises:
        ValueError: if there is no `initial_value`, or its shape or dtype is not the one given.

    Example:
        >>> v = tf.Variable([1.0, 2.0])
        >>> v.assign_add([1.0, 1.0]).numpy()
        array([2., 3.], dtype=float32)
    """

    _should_act_as_resource_variable = True
    _value: Tensor

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
        synchronization = chosen(VariableSynchronization, synchronization, "synchronization", name)
        if trainable is None:
            trainable = synchronization is not VariableSynchronization.ON_READ
        tensor = first_value(initial_value, dtype)
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
        self._aggregation: VariableAggregation = chosen(
            VariableAggregation, aggregation, "aggregation", name
        )
        self._constraint = constraint
        self._key = next_key()
        self._lock = threading.RLock()
        trace = tracing()
        self._value = version(tensor._array if trace is None else trace.create(self, tensor))
        self._dtype = tensor.dtype

    # -- what it is

    @property
    def _cell(self) -> Variable:
        """The variable itself, where this is another name for it."""
        return self

    @property
    def handle(self) -> Handle:
        """What stands for the variable itself, whatever wraps it."""
        return Handle(self)

    @property
    def name(self) -> str:
        """The name, scopes in front and `:0` behind."""
        return f"{self._name}:0"

    @property
    def _shared_name(self) -> str:
        return self._name

    @property
    def _unique_id(self) -> str:
        return f"{self._name}_{self._key}"

    @property
    def dtype(self) -> dtypes.DType:
        """The element type; it never changes."""
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        """What may be assigned; None for dimensions that may change."""
        return self._shape

    def get_shape(self) -> TensorShape:
        """The shape, as a method."""
        return self._shape

    @public
    def set_shape(self, shape: Any) -> None:
        """Narrow the shape down to what `shape` says besides."""
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
        """How replicas would be kept together."""
        return self._synchronization

    @property
    def aggregation(self) -> VariableAggregation:
        """How values of replicas would be combined."""
        return self._aggregation

    @property
    def device(self) -> str:
        """Where the array lives."""
        return CPU

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
        if tracing() is not None:
            return f"<tf.Variable {self.name!r} shape={self._shape} dtype={dtype}>"
        text = value_repr(self._value._array)
        return f"<tf.Variable {self.name!r} shape={self._shape} dtype={dtype}, numpy={text}>"

    # -- reading

    def _read(self) -> Tensor:
        """The current value, for an op; recorders are told.

        Where nobody records it comes as a tensor of its own: one that is kept must not count as
        the variable later.
        """
        value = self._value
        recorders = local.recorders
        if not recorders:
            return eager(value._array)
        if recorders[0].stages:
            return recorders[0].read(self)
        for known in recorders:
            if value.uid not in known:
                known.touch(self, value.uid)
        return value

    def _current(self) -> Tensor:
        """The current version, without telling anybody: inside a trace, the trace's."""
        trace = tracing()
        return self._value if trace is None else trace.state(self).newest

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Tensor:
        if dtype is not None and dtype is not self.dtype:
            raise ValueError(
                f"Incompatible type conversion requested to type {dtype.name} for a tf.Variable of "
                f"type {self.dtype.name}: {self!r}. Cast it instead."
            )
        return self._read()

    def value(self) -> Tensor:
        """The current value, as a tensor of its own; later assignments do not change it."""
        return identity(self._read())

    def read_value(self) -> Tensor:
        """The current value, as a tensor of its own; later assignments do not change it."""
        return self.value()

    def read_value_no_copy(self) -> Tensor:
        """The current value, as a tensor of its own; later assignments do not change it."""
        return self.value()

    def numpy(self) -> Any:
        """The value as a NumPy array that may be written to; a scalar as a NumPy scalar."""
        if tracing() is not None:
            raise NotImplementedError(
                "tf.Variable.numpy() is only available when eager execution is enabled. Inside "
                "tf.function use the variable itself."
            )
        return self._read().numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        array = self._current().__array__(copy=True)  # type: ignore[attr-defined]
        return array if dtype is None else array.astype(dtype, copy=False)

    @public
    def sparse_read(self, indices: Any, name: str | None = None) -> Tensor:
        """Rows of the variable, as `tf.gather`."""
        return gather(self._read(), convert(indices), axis=-self._value.ndim)

    @public
    def gather_nd(self, indices: Any, name: str | None = None) -> Tensor:
        """Elements or slices of the variable, as `tf.gather_nd`."""
        return gather_nd(self._read(), convert(indices), rank=self._value.ndim)

    @public
    def __getitem__(self, key: Any) -> Tensor:
        tensor = self._read()[key]
        if not scatter.is_mask(key):
            tensor.assign = functools.partial(self._assign_slice, key)  # type: ignore[attr-defined]
        return tensor

    # -- assigning

    def _install(self, raw: Any) -> None:
        """Make `raw` the value. Every change of a variable ends here."""
        self._value = version(raw)

    def _taken(self, value: Any) -> Any:
        """The raw array of what is assigned, of this dtype."""
        if type(value) is EagerTensor and value._array.dtype is self._value._array.dtype:
            return value._array
        return convert(value, self._dtype)._array

    def _changed(self, read_value: bool = True) -> Any:
        """What an assignment returns; handing the variable out counts as reading it."""
        if not read_value:
            return None
        if local.recorders:
            uid = self._current().uid
            for known in local.recorders:
                known.touch(self, uid)
        return UnreadVariable(self)

    @public
    def assign(
        self,
        value: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Replace the value.

        Args:
            value: a tensor, or what converts to one, of this dtype and a compatible shape.
            use_locking: accepted for TensorFlow's sake; updates never mix.
            name: accepted for TensorFlow's sake.
            read_value: whether to return something.

        Returns:
            Something that reads as the variable, or None if `read_value` is False.

        Raises:
            ValueError: if the shape, or a tensor's dtype, does not fit; nothing has changed then.
        """
        trace = tracing()
        raw = self._taken(value) if trace is None else (value := convert(value, self._dtype))._array
        if raw.shape != self._value._array.shape and not self._shape.is_compatible_with(raw.shape):
            raise ValueError(
                f"Cannot assign value to variable {self.name!r}: Shape mismatch. The variable "
                f"shape {self._shape}, and the assigned value shape {raw.shape} are incompatible."
            )
        if trace is None:
            self._install(raw)
        else:
            trace.write(self, value)
        return self._changed(read_value)

    def assign_add(
        self,
        delta: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Add `delta`, which has the variable's shape and dtype; otherwise as `assign`."""
        try:
            return self._shift(add, delta, read_value)
        except Exception as error:
            hide_library(error)
            raise

    def assign_sub(
        self,
        delta: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Subtract `delta`, which has the variable's shape and dtype; otherwise as `assign`."""
        try:
            return self._shift(subtract, delta, read_value)
        except Exception as error:
            hide_library(error)
            raise

    def _shift(self, function: Any, delta: Any, read_value: bool) -> Any:
        trace = tracing()
        raw = self._taken(delta) if trace is None else (delta := convert(delta, self._dtype))._array
        with self._lock:
            before = self._current()._array
            if raw.shape == before.shape and before.dtype.kind not in "bO":
                if trace is not None:
                    with listening((trace,)):
                        trace.write(self, function(trace.read(self), delta))
                    return self._changed(read_value)
                self._install(evaluate(function.op, (before, raw), {}))
                return self._changed(read_value)
            if raw.shape != before.shape:
                raise InvalidArgumentError(
                    f"Cannot update variable with shape {list(before.shape)} using a Tensor with "
                    f"shape {list(raw.shape)}, shapes must be equal. (Variable: {self.name!r})"
                )
            raise InvalidArgumentError(
                f"assign_{function.op.name}: not defined for {self.dtype.name}."
            )

    def _assign_slice(self, key: Any, value: Any, name: str | None = None) -> Any:
        return self._rewrite(
            scatter.sliced, scatter.plain_key(key), convert(value, self.dtype)._array
        )

    def _rewrite(self, function: Callable[..., Any], *args: Any) -> Any:
        """Install what `function` makes of the current raw value."""
        trace = tracing()
        if trace is not None:
            trace.write(self, trace.call(function, (self._current()._array, *args)))
            return self._changed()
        with self._lock:
            self._install(function(self._value._array, *args))
        return self._changed()

    def load(self, value: Any, session: Any = None) -> None:
        """Replace the value; `assign` under its name of TensorFlow 1."""
        self.assign(value, read_value=False)

    @public
    def count_up_to(self, limit: int) -> Tensor:
        """Add one, unless `limit` is reached.

        Returns:
            The value before.

        Raises:
            OutOfRangeError: if the value is `limit` or more.
        """
        if self.dtype not in (dtypes.int32, dtypes.int64):
            raise InvalidArgumentError(
                f"count_up_to: the variable must be int32 or int64. It is {self.dtype.name}."
            )
        with self._lock:
            before = self.value()
            if int(before) >= limit:
                raise OutOfRangeError(f"count_up_to: reached the limit of {limit}.")
            self.assign_add(1, read_value=False)
        return before

    # -- copies

    def __copy__(self) -> Variable:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Variable:
        copy = memo[id(self)] = restored(*self.__reduce__()[1])
        return copy

    def __reduce__(self) -> tuple[Any, ...]:
        facts = {
            "trainable": self._trainable,
            "shape": self._shape,
            "constraint": self._constraint,
            "synchronization": self._synchronization,
            "aggregation": self._aggregation,
        }
        return restored, (self._value, self._name, facts)


class UnreadVariable(Variable):
    """What `assign` returns: another name for the variable, read when somebody looks."""

    def __init__(self, variable: Variable) -> None:
        self._variable = variable

    def __getattr__(self, name: str) -> Any:
        if name == "_variable":
            raise AttributeError(name)
        return getattr(self._variable, name)

    @property
    def name(self) -> str:
        """TensorFlow's placeholder."""
        return "UnreadVariable"

    @property
    def handle(self) -> Handle:
        """That of the variable."""
        return self._variable.handle

    @property
    def _cell(self) -> Variable:
        return self._variable

    def _read(self) -> Tensor:
        return self._variable._read()

    def _install(self, raw: Any) -> None:
        self._variable._install(raw)

    def _changed(self, read_value: bool = True) -> Any:
        return self._variable._changed(read_value)


def version(raw: Any) -> EagerTensor:
    """A tensor that is the value of a variable; recorders may know it."""
    tensor = EagerTensor()
    tensor._array = raw
    tensor.uid = -next_uid()
    return tensor


def tracing() -> Any:
    """The trace that this thread is in, or None."""
    return next(iter(staging()), None)


def first_value(initial_value: Any, dtype: Any) -> Tensor:
    """The tensor a variable starts with; made where no tape records."""
    with listening(staging()):
        value = initial_value() if callable(initial_value) else initial_value
        try:
            return convert(value, dtype)
        except ValueError as error:
            raise ValueError(f"initial_value: {error}") from None


def chosen(enum: Any, value: Any, what: str, name: str | None) -> Any:
    """A member of `enum`."""
    if not isinstance(value, enum):
        raise ValueError(
            f"tf.Variable: Invalid variable {what} mode: {value!r} for variable: {name}."
        )
    return value


def restored(value: Tensor, name: str, facts: dict[str, Any]) -> Variable:
    """A variable from its parts; `name` has its scopes already."""
    variable = Variable(value, **facts)
    variable._name = name
    return variable
