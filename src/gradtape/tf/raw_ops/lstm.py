"""The LSTM ops of tf.raw_ops: BlockLSTMV2, BlockLSTM and LSTMBlockCell."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.ops import shape as s
from gradtape.ops.nn.lstm import lstm
from gradtape.tf.public_op import as_numpy_dtypes, check_dtype, check_same_dtype

LSTM_DTYPES = as_numpy_dtypes("float16", "float32")
NO_MASK = make_tensor(np.ones((1, 1), bool))


class BlockLSTMV2Output(NamedTuple):
    """For each step: gates i, f, o, candidate ci, cell state cs, its tanh co, and output h."""

    i: Tensor
    cs: Tensor
    f: Tensor
    o: Tensor
    ci: Tensor
    co: Tensor
    h: Tensor


class BlockLSTMOutput(BlockLSTMV2Output):
    """The results of BlockLSTM."""


class LSTMBlockCellOutput(BlockLSTMV2Output):
    """The results of LSTMBlockCell, a single step."""


for kind in (BlockLSTMV2Output, BlockLSTMOutput, LSTMBlockCellOutput):
    kind.__name__ = kind.__qualname__ = kind.__name__.removesuffix("Output")  # TensorFlow's names
del kind


@public
def block_lstm_v2(
    seq_len_max: Any,
    x: Any,
    cs_prev: Any,
    h_prev: Any,
    w: Any,
    wci: Any,
    wcf: Any,
    wco: Any,
    b: Any,
    cell_clip: float = 0,
    use_peephole: bool = False,
    name: str | None = None,
) -> BlockLSTMV2Output:
    """An LSTM over all steps of a batch of sequences.

    Args:
        seq_len_max: number of steps to compute; the results of later steps are zeros.
        x: inputs, (steps, batch, n).
        cs_prev: the initial cell state, (batch, hidden).
        h_prev: the initial output, (batch, hidden).
        w: weights, (n + hidden, 4 * hidden), of x and of h, for the gates i, f, c, o.
        wci: peephole weights of the input gate, (hidden,); not read unless `use_peephole`.
        wcf: those of the forget gate.
        wco: those of the output gate.
        b: biases, (4 * hidden,).
        cell_clip: bound of the cell state, if positive. The gradient ignores the clipping.
        use_peephole: whether gates see the cell state.
        name: has no effect here.

    Returns:
        A tuple of i, cs, f, o, ci, co and h, each (steps, batch, hidden).

    Raises:
        InvalidArgumentError: if shapes are incompatible, or `seq_len_max` exceeds the steps.

    Example:
        >>> x, state, peephole = tf.ones((3, 1, 2)), tf.zeros((1, 1)), tf.zeros(1)
        >>> out = tf.raw_ops.BlockLSTMV2(
        ...     seq_len_max=3, x=x, cs_prev=state, h_prev=state, w=tf.ones((3, 4)),
        ...     wci=peephole, wcf=peephole, wco=peephole, b=tf.zeros(4))
        >>> out.h.shape
        TensorShape([3, 1, 1])
    """
    inputs = check_lstm_inputs("BlockLSTMV2", x, cs_prev, h_prev, w, wci, wcf, wco, b)
    steps = check_seq_len_max("BlockLSTMV2", seq_len_max, inputs[0])
    return BlockLSTMV2Output(*unroll_lstm(inputs, steps, cell_clip, use_peephole))


@public
def block_lstm(
    seq_len_max: Any,
    x: Any,
    cs_prev: Any,
    h_prev: Any,
    w: Any,
    wci: Any,
    wcf: Any,
    wco: Any,
    b: Any,
    forget_bias: float = 1,
    cell_clip: float = 3,
    use_peephole: bool = False,
    name: str | None = None,
) -> BlockLSTMOutput:
    """BlockLSTMV2 with weights in the order i, c, f, o.

    `forget_bias` is added to the bias of the forget gate. The default of `cell_clip` is 3.
    """
    inputs = check_lstm_inputs("BlockLSTM", x, cs_prev, h_prev, w, wci, wcf, wco, b)
    steps = check_seq_len_max("BlockLSTM", seq_len_max, inputs[0])
    return BlockLSTMOutput(
        *unroll_lstm(reorder_gates(inputs, forget_bias), steps, cell_clip, use_peephole)
    )


@public
def lstm_block_cell(
    x: Any,
    cs_prev: Any,
    h_prev: Any,
    w: Any,
    wci: Any,
    wcf: Any,
    wco: Any,
    b: Any,
    forget_bias: float = 1,
    cell_clip: float = 3,
    use_peephole: bool = False,
    name: str | None = None,
) -> LSTMBlockCellOutput:
    """One step of BlockLSTM: x is (batch, n), and each result (batch, hidden)."""
    row = convert(x)
    if row._array.ndim != 2:
        raise InvalidArgumentError(
            f"LSTMBlockCell: x must be 2D, (batch, n). Received shape {list(row._array.shape)}."
        )
    step = s.reshape(row, shape=(1, *row._array.shape), rank=2)
    inputs = check_lstm_inputs("LSTMBlockCell", step, cs_prev, h_prev, w, wci, wcf, wco, b)
    outs = unroll_lstm(reorder_gates(inputs, forget_bias), 1, cell_clip, use_peephole)
    return LSTMBlockCellOutput(*(s.index_axis(out, axis=-3, i=0) for out in outs))


def check_lstm_inputs(op: str, *values: Any) -> list[Tensor]:
    """Convert the inputs to tensors; raise unless dtypes are equal and shapes compatible."""
    first = next((v for v in map(typed_or_none, values) if v is not None), None)
    tensors = [convert(v, hint=None if first is None else first.dtype) for v in values]
    for k, t in enumerate(tensors):
        check_dtype(op, t, LSTM_DTYPES)
        check_same_dtype(op, tensors[0], t, k)
    shapes = [t._array.shape for t in tensors]
    for name, shape, rank in zip(LSTM_INPUT_NAMES, shapes, (3, 2, 2, 2, 1, 1, 1, 1), strict=True):
        if len(shape) != rank:
            raise InvalidArgumentError(f"{op}: {name} must be {rank}D. Received {list(shape)}.")
    _, batch, n = shapes[0]
    hidden = shapes[1][1]
    state, peephole = (batch, hidden), (hidden,)
    wanted = (state, state, (n + hidden, 4 * hidden), *[peephole] * 3, (4 * hidden,))
    for name, shape, want in zip(LSTM_INPUT_NAMES[1:], shapes[1:], wanted, strict=True):
        if shape != want:
            raise InvalidArgumentError(
                f"{op}: {name} must have shape {list(want)} for {n} inputs, {hidden} cells and a "
                f"batch of {batch}. Received {list(shape)}."
            )
    return tensors


LSTM_INPUT_NAMES = ("x", "cs_prev", "h_prev", "w", "wci", "wcf", "wco", "b")


def typed_or_none(value: Any) -> Any:
    """`value` if it has a dtype, else None."""
    return value if hasattr(value, "dtype") else None


def check_seq_len_max(op: str, seq_len_max: Any, x: Tensor) -> int:
    """Convert `seq_len_max` to an int; raise unless it lies in [0, steps]."""
    length = convert(seq_len_max, dtype="int64")._array
    steps = x._array.shape[0]
    if length.ndim:
        raise InvalidArgumentError(
            f"{op}: seq_len_max must be a scalar. Received shape {list(length.shape)}."
        )
    if not 0 <= length <= steps:
        raise InvalidArgumentError(
            f"{op}: seq_len_max must lie in [0, {steps}], the number of steps. Received {length}."
        )
    return int(length)


def reorder_gates(inputs: list[Tensor], forget_bias: float) -> list[Tensor]:
    """Reorder gates from i, c, f, o to i, f, c, o, and add `forget_bias` to the bias of f."""
    *others, w, wci, wcf, wco, b = inputs
    hidden = wci._array.shape[0]
    i, c, f, o = s.split(w, axis=-1, sizes=(hidden,) * 4)
    b_i, b_c, b_f, b_o = s.split(b, axis=-1, sizes=(hidden,) * 4)
    bias = s.concat(b_i, b_f + forget_bias, b_c, b_o, axis=-1)
    return [*others, s.concat(i, f, c, o, axis=-1), wci, wcf, wco, bias]


def unroll_lstm(inputs: list[Tensor], length: int, clip: float, peephole: bool) -> list[Tensor]:
    """i, cs, f, o, ci, co and h of the first `length` steps, followed by zeros."""
    x, *others = inputs
    steps = x._array.shape[0]
    if length < steps:
        x = s.slice_axis(x, axis=-3, start=0, size=length)
    if not length:  # one dummy step, so that the results stay connected to the inputs
        x = s.pad(x, paddings=((0, 1), (0, 0), (0, 0)), value=0)
    gates, cs, h = lstm(
        x, *others, NO_MASK, clip=float(clip), peephole=bool(peephole), masked=False
    )
    i, f, o, ci, co = s.unstack(gates, axis=-3)
    outs = [s.swap(v) for v in (i, cs, f, o, ci, co, h)]
    if length == steps > 0:
        return outs
    behind = ((0, steps - length), (0, 0), (0, 0))
    return [
        s.pad(s.slice_axis(v, axis=-3, start=0, size=length), paddings=behind, value=0)
        for v in outs
    ]
