"""Tensors of unknown size: two sizes are tried side by side, in two lanes.

In a scratch scope a placeholder holds two eager tensors. A dimension that differs between them is
unknown: `shape` says None there. Such a tensor has no one array, so whoever asks for it raises
`Apart`; the public function that was called then runs once for each lane, on eager tensors, and
its two results are joined again. So nothing else in the library knows of lanes. What both lanes
agree on and does not depend on a placeholder's data, as a known dimension, is an eager tensor.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np

from gradtape.core import dtypes, nest
from gradtape.core.context import local, no_recording
from gradtape.core.errors import Apart, UnknownValueError
from gradtape.core.shapes import TensorShape
from gradtape.core.tensor import EagerTensor, Tensor, make_tensor

# Sizes that stand for an unknown one: of the first axis, which is most often the batch, and of all
# others, which must be larger than the windows that slide over them.
FIRST, OTHER = (5, 7), (83, 89)
# Functions whose result depends on the shape of their argument only
OF_SHAPES = frozenset(("ones_like", "rank", "shape", "shape_n", "size", "zeros_like"))


@contextlib.contextmanager
def scratch() -> Iterator[None]:
    """Within this scope there are placeholders, and nobody outside hears of what is computed."""
    before = local.scratch
    local.scratch = True
    try:
        with no_recording(), np.errstate(all="ignore"):
            yield
    finally:
        local.scratch = before


@contextlib.contextmanager
def outside() -> Iterator[None]:
    """Within this scope ops are eager, whatever is going on around it."""
    before = local.scratch, local.lane
    local.scratch, local.lane = False, None
    try:
        with no_recording():
            yield
    finally:
        local.scratch, local.lane = before


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> LaneTensor:
    """A tensor of a scratch scope whose value, and perhaps size, is not known."""
    if not local.scratch:
        raise RuntimeError(
            "tf.compat.v1.placeholder() is not compatible with eager execution. Make it a "
            "parameter of a tf.function."
        )
    known = TensorShape(shape)
    if known.rank is None:
        raise NotImplementedError("placeholder: the rank must be known. Give a shape.")
    raw = [probe(known, dtypes.as_dtype(dtype), lane) for lane in (0, 1)]
    return LaneTensor((make_tensor(raw[0]), make_tensor(raw[1])), depends_on_data=True)


def probe(shape: TensorShape, dtype: dtypes.DType, lane: int) -> Any:
    """An array of a shape whose unknown sizes are those of a lane: ones, or zeros if of integers.

    A zero is a valid index of anything.
    """
    sizes = [
        (OTHER if i else FIRST)[lane] if n is None else n for i, n in enumerate(shape.as_list())
    ]
    if dtype is dtypes.string:
        return np.full(sizes, b"", object)
    return np.full(sizes, 0 if dtype.is_integer or dtype.is_bool else 1, dtype.as_numpy_dtype)


def unknown(what: str) -> NoReturn:
    """Refuse to show a value; a public function that asks runs for each lane instead."""
    raise UnknownValueError(
        f"{what} is not allowed: its value is not known where only shapes are computed. "
        "Use the function of tf."
    )


class LaneTensor(Tensor):
    """A tensor whose size or value is not known: one eager tensor for each of two tries."""

    __slots__ = ("_depends_on_data", "_lanes")

    def __init__(self, lanes: tuple[EagerTensor, EagerTensor], depends_on_data: bool) -> None:
        """Hold one tensor for each lane."""
        self._lanes = lanes
        self._depends_on_data = depends_on_data

    def _lane(self) -> EagerTensor:
        """The tensor of the lane that is being run."""
        if local.lane is None:
            raise Apart("A tensor of unknown size was used by something that needs to know it.")
        local.depends_on_data |= self._depends_on_data
        return self._lanes[local.lane]

    @property
    def _array(self) -> Any:
        return self._lane()._array

    @property
    def uid(self) -> int:
        """That of the lane's tensor."""
        return self._lane().uid

    @uid.setter
    def uid(self, uid: int) -> None:
        self._lane().uid = uid

    @property
    def shape(self) -> TensorShape:
        """The shape; sizes that differ between the lanes are unknown."""
        if local.lane is not None:
            return self._lanes[local.lane].shape
        a, b = [tensor._array.shape for tensor in self._lanes]
        if len(a) != len(b):
            return TensorShape(None)
        return TensorShape.from_tuple(
            tuple([m if m == n else None for m, n in zip(a, b, strict=True)])
        )

    @property
    def dtype(self) -> dtypes.DType:
        """The element type."""
        return self._lanes[0].dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._lanes[0].ndim

    @property
    def name(self) -> str:
        """Nothing of its own."""
        return "Placeholder:0"

    @property
    def op(self) -> Any:
        """Nothing is known of what computes it."""
        return SimpleNamespace(type="Placeholder", name="Placeholder", inputs=())

    def set_shape(self, shape: Any) -> None:
        """Make sizes known that were not."""
        shape = self.shape.merge_with(shape)
        raw = [probe(shape, self.dtype, lane) for lane in (0, 1)]
        if shape != self.shape:
            self._lanes = (make_tensor(raw[0]), make_tensor(raw[1]))

    def __len__(self) -> int:
        """The size of the first dimension, if it is known."""
        size = self.shape[0] if self.ndim else None
        return unknown("len() of a symbolic `tf.Tensor`") if size is None else int(size)

    def __iter__(self) -> Iterator[Tensor]:
        """Yield the slices along the first dimension, if its size is known."""
        return (self[i] for i in range(len(self)))

    def __bool__(self) -> bool:
        """Refuse, unless a lane is being run."""
        return bool(self._shown("Using a symbolic `tf.Tensor` as a Python `bool`"))

    def __int__(self) -> int:
        """Refuse, unless a lane is being run."""
        return int(self._shown("Using a symbolic `tf.Tensor` as a Python `int`"))

    def __float__(self) -> float:
        """Refuse, unless a lane is being run."""
        return float(self._shown("Using a symbolic `tf.Tensor` as a Python `float`"))

    def __index__(self) -> int:
        """Refuse, unless a lane is being run."""
        return self._shown("Using a symbolic `tf.Tensor` as an index").__index__()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Refuse, unless a lane is being run."""
        return self._shown("Converting a symbolic `tf.Tensor` to a NumPy array").__array__(dtype)

    def _shown(self, what: str) -> EagerTensor:
        return unknown(what) if local.lane is None else self._lane()

    def __copy__(self) -> LaneTensor:
        """This tensor: it never changes."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> LaneTensor:
        """This tensor: it never changes."""
        return self

    def __repr__(self) -> str:
        """As TensorFlow: name, shape and dtype."""
        return f"<tf.Tensor {self.name!r} shape={self.shape} dtype={self.dtype.name}>"


class Pair:
    """Two objects of one kind, as arrays of tensors of different length; methods run on each."""

    def __init__(self, lanes: tuple[Any, Any]) -> None:
        """Hold one for each lane."""
        self._lanes = lanes

    def __getattr__(self, name: str) -> Any:
        """A method, or an attribute that is joined."""
        lanes = self._lanes
        if callable(getattr(lanes[0], name)):
            return lambda *args, **kwargs: apart(
                lambda self, *a, **k: getattr(self, name)(*a, **k), (self, *args), kwargs
            )
        return joined(getattr(lanes[0], name), getattr(lanes[1], name), depends_on_data=True)


def longest() -> float:
    """How many turns a loop may take: where it depends on made-up data it may have no end."""
    return OTHER[1] if local.scratch else math.inf


def apart(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a function once for each lane of its arguments, and join the results."""
    results = []
    depends = any(t._depends_on_data for t in found((args, kwargs)) if type(t) is LaneTensor)
    before = local.depends_on_data
    local.depends_on_data = depends
    try:
        for lane in (0, 1):
            local.lane = lane
            results.append(function(*of_lane(args, lane), **of_lane(kwargs, lane)))
        depends = local.depends_on_data and function.__name__ not in OF_SHAPES
    finally:
        local.lane = None
        local.depends_on_data = before
    return joined(results[0], results[1], depends_on_data=depends)


def lanes_of(value: Any) -> Any:
    """`value`, or the tensor it converts itself to, if that has lanes; else None."""
    if hasattr(type(value), "__tf_tensor__"):
        value = value.__tf_tensor__(None, None)
    return value if isinstance(value, (LaneTensor, Pair)) else None


def found(value: Any) -> Iterator[Any]:
    """Tensors of lanes, and pairs, in nested containers."""
    lanes = lanes_of(value)
    if lanes is not None:
        yield lanes
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from found(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from found(item)
    elif isinstance(value, slice):
        yield from found((value.start, value.stop, value.step))
    elif hasattr(value, "_type_spec"):
        yield from found(nest.flatten(value, expand_composites=True))


def of_lane(value: Any, lane: int) -> Any:
    """`value` with the tensors of one lane in place of those of both."""
    lanes = lanes_of(value)
    if lanes is not None:
        return lanes._lanes[lane]
    if next(found(value), None) is None:
        return value
    if isinstance(value, dict):
        return {key: of_lane(item, lane) for key, item in value.items()}
    if isinstance(value, slice):
        return slice(*of_lane((value.start, value.stop, value.step), lane))
    if type(value) in (list, tuple):
        return type(value)(of_lane(item, lane) for item in value)
    return nest.map_structure(lambda item: of_lane(item, lane), value, expand_composites=True)


def joined(a: Any, b: Any, depends_on_data: bool) -> Any:
    """One value of the results of two lanes."""
    if a is b:
        return a
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        known = not depends_on_data and np.array_equal(a._array, b._array)
        return a if known else LaneTensor((a, b), depends_on_data)  # type: ignore[arg-type]
    if type(a) is dict:
        return {key: joined(a[key], b[key], depends_on_data) for key in a}
    if isinstance(a, (list, tuple)) and len(a) == len(b):
        parts = [joined(x, y, depends_on_data) for x, y in zip(a, b, strict=True)]
        return type(a)(*parts) if hasattr(a, "_fields") else type(a)(parts)
    if hasattr(a, "_type_spec"):
        spec = a._type_spec.most_specific_compatible_type(b._type_spec)
        x, y = [each._type_spec._to_components(each) for each in (a, b)]
        return spec._from_components(joined(x, y, depends_on_data))
    if isinstance(a, (bool, int, float, str, bytes, type, np.ndarray, TensorShape)):
        same = np.array_equal(np.asarray(a), np.asarray(b)) if isinstance(a, np.ndarray) else a == b
        return a if same else unknown("Using a symbolic `tf.Tensor` as a number")
    return Pair((a, b))


def handle(error: BaseException, function: Any, args: Any, kwargs: Any) -> Any:
    """Do for each lane what could not be done for both; another's trouble goes on."""
    if local.lane is not None or next(found((args, kwargs)), None) is None:
        raise error
    if function.__name__ == "__init__":
        raise NotImplementedError(f"{function.__qualname__}: not there for an unknown size.")
    return apart(function, args, kwargs)
