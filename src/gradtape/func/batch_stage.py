"""BatchStage: the recorder behind `vmap`, which applies each primitive to all examples at once.

The stage is the outermost recorder while the function runs. Tensors of the stage show the shape of
one example and hold all examples along a leading axis. Kernels count axes from the right, so most
of them take the batch as it is; `batch_rule` has the others. The recorders that were active before
see ops on whole batches. Recorders that the function adds see ops on single examples.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NoReturn

from gradtape.core.context import current_trace, local, use_recorders
from gradtape.core.convert import convert
from gradtape.core.dispatch import record_op
from gradtape.core.primitive import Primitive
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.func.batch_rule import apply_to_batch, pick_example, repeat_for_batch, stack_examples
from gradtape.func.batch_tensor import BatchTensor, VectorizeError, make_batch_tensor
from gradtape.ops.reduce import reduce_sum
from gradtape.ops.shape import shape_of, stack
from gradtape.tape.custom_gradient_step import record_custom_gradient


class BatchStage(dict[int, Any]):
    """Applies primitives to all examples; it records nothing itself.

    Attributes:
        size: the number of examples.
        outer: the recorders that were active when `vmap` was called.
    """

    is_trace = True  # it takes over ops, as a trace does
    is_batch = True
    unmarked = True  # ops on shared tensors must be reported, too: indices may be batch tensors

    def __init__(self, size: int) -> None:
        """Start a stage for `size` examples, inside the active recorders."""
        self.size = size
        self.outer = local.recorders

    def owns(self, value: Any) -> bool:
        """Whether `value` is a batch tensor of this stage."""
        return type(value) is BatchTensor and value._array.stage is self

    def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call `function` with this stage as the outermost recorder."""
        with use_recorders((self,)):
            return function(*args)

    def hold(self, held: Any) -> BatchTensor:
        """Make a tensor of this stage of the tensor of all examples."""
        return make_batch_tensor(held if self.outer else held._array, self)

    def release(self, value: Tensor) -> Tensor:
        """The tensor of all examples; a value that all examples share is repeated."""
        if self.owns(value):
            held = value._array.held
            return held if isinstance(held, Tensor) else make_tensor(held)
        repeated: Tensor = repeat_for_batch(value, self.size)
        return repeated

    def bind(self, op: Primitive, args: tuple[Any, ...], static: dict[str, Any]) -> Any:
        """Apply `op` to all examples and tell the recorders inside this stage."""
        flags = [type(a) is BatchTensor and a._array.stage is self for a in args]
        raws = tuple([a._array if isinstance(a, Tensor) else a for a in args])
        if self.outer:
            values = [a._array.held if own else a for a, own in zip(args, flags, strict=True)]
            with use_recorders(self.outer):
                result = apply_to_batch(op, values, flags, static, self.size)
        else:
            values = [raw.held if own else raw for raw, own in zip(raws, flags, strict=True)]
            result = apply_to_batch(op, values, flags, static, self.size)
        live = True in flags
        outs = tuple([self.wrap(r, live) for r in (result if op.outputs else (result,))])
        out = outs if op.outputs else outs[0]
        inner = local.recorders[1:]
        if inner:
            arrays = tuple([one._array for one in outs]) if op.outputs else outs[0]._array
            for recorder in inner:
                record_op(recorder, op, args, raws, static, out, arrays)
        return out

    def wrap(self, value: Any, live: bool) -> Tensor:
        """A result as a tensor; one that depends on an example belongs to this stage."""
        if live:
            return make_batch_tensor(value, self)
        return value if isinstance(value, Tensor) else make_tensor(value)

    def map_examples(self, function: Callable[[], tuple[Tensor, ...]]) -> tuple[BatchTensor, ...]:
        """Call `function` once for each example, outside of the stage, and batch its results."""
        with use_recorders(self.outer):
            # One random op of a graph draws for all examples, as in a loop.
            streams = next(iter(current_trace()), local.random_streams)
            turns = range(self.size) if streams is None else streams.iterate_loop(self.size)
            rows = [function() for _ in turns]
            columns = [
                stack(*column, axis=-len(shape_of(column[0])) - 1)
                for column in zip(*rows, strict=True)
            ]
        return tuple([self.hold(column) for column in columns])

    def call_raw(
        self,
        apply: Callable[..., Any],
        function: Callable[..., Any],
        args: tuple[Any, ...],
        outputs: bool,
    ) -> Any:
        """Apply a function of raw arrays that is not a primitive, once for each example.

        `apply(function, *args)` applies it outside of the stage.
        """
        flags = [self.owns(a) for a in args]
        with use_recorders(self.outer):
            if True not in flags:
                return apply(function, *args)
            values = [self.release(a) if own else a for a, own in zip(args, flags, strict=True)]
            rows = [
                apply(
                    function,
                    *(pick_example(v, i) if f else v for v, f in zip(values, flags, strict=True)),
                )
                for i in range(self.size)
            ]
            columns = zip(*rows, strict=True) if outputs else [rows]
            held = [stack_examples(function.__name__, list(column)) for column in columns]
        outs = tuple([self.hold(one) for one in held])
        return outs if outputs else outs[0]

    def read_variable(self, variable: Any) -> Tensor:
        """The current version of a variable, which all examples share."""
        if self.outer:
            with use_recorders(self.outer):
                tensor: Tensor = variable._read()
        else:
            tensor = variable._stored_version()
        for recorder in local.recorders[1:]:
            if tensor.uid not in recorder:
                recorder.on_variable_read(variable, tensor.uid)
        return tensor

    def on_variable_read(self, variable: Any, uid: int) -> None:
        """Do nothing: `read_variable` handles variables."""

    def variable_state(self, variable: Any) -> Any:
        """An object whose `newest` is the current version of a variable."""
        with use_recorders(self.outer):
            return SimpleNamespace(newest=variable._current_version())

    def write_variable(self, variable: Any, tensor: Any) -> NoReturn:
        """Raise: the examples would have to be assigned one after the other."""
        raise VectorizeError(
            f"vmap: the function must not assign variables. Received an assignment to "
            f"{variable.name!r}. Return the value and assign it after the call."
        )

    def create_variable(self, variable: Any, tensor: Any) -> NoReturn:
        """Raise: a variable cannot differ between examples."""
        raise VectorizeError(
            "vmap: the function must not create variables. Create them before the call."
        )

    def record_user_gradient(
        self, results: list[Any], inputs: list[Any], grad: Callable[..., list[Any]]
    ) -> list[Tensor]:
        """New tensors for `results`; recorders outside of the stage get `grad`, batched."""
        if not any(map(self.owns, [*results, *inputs])):
            with use_recorders(self.outer):
                return record_custom_gradient(results, inputs, grad)
        if not self.outer:
            return [self.hold(self.release(t)) for t in results]
        with use_recorders(self.outer):
            held = [self.release(t) for t in results]
            sources = [t._array.held if self.owns(t) else t for t in inputs]
            outs = record_custom_gradient(held, sources, self.batch_gradient(inputs, grad))
        return [self.hold(out) for out in outs]

    def batch_gradient(
        self, inputs: list[Any], grad: Callable[..., list[Any]]
    ) -> Callable[..., list[Any]]:
        """The gradient function of all examples; shared inputs get the sum of theirs."""

        def compute(*cotangents: Any) -> list[Any]:
            before, self.outer = self.outer, local.recorders
            try:
                answers = self.run(grad, *[self.hold(convert(g)) for g in cotangents])
            finally:
                self.outer = before
            return [
                None if answer is None else self.collect(convert(answer), source)
                for answer, source in zip(answers, inputs, strict=True)
            ]

        return compute

    def collect(self, answer: Tensor, source: Any) -> Any:
        """The gradient of `source`, which belongs to all examples or is shared."""
        held = self.release(answer)
        if self.owns(source):
            return held
        return reduce_sum(held, axis=(-len(shape_of(held)),), keepdims=False)
