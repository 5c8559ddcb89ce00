"""Keras's LSTM and GRU layers train as one op for all steps, if XLA does not compile the loop.

XLA compiles it where JAX is installed, unless products are so large that the cost model prefers
NumPy.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.compile.xla.kernel_namespace import has_jax
from gradtape.core.context import current_trace
from gradtape.core.convert import convert
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.ops.nn.gru import gru
from gradtape.ops.nn.lstm import lstm
from gradtape.tf.array.concat_split import concat
from gradtape.tf.array.creation import zeros, zeros_like
from gradtape.tf.saved_model.saving_trace import SavingTrace

NO_MASK = make_tensor(np.ones((1, 1), bool))
MAX_XLA_STEP_PRODUCTS = 1 << 23  # beyond, `cost_model.calls_until_xla` keeps loops on NumPy


def connect_recurrent_layers() -> None:
    """Let training calls of LSTM and GRU layers run as one op.

    Inference keeps Keras's loop, which a SavedModel can store.
    """
    for name, run in (("lstm", run_lstm), ("gru", run_gru)):
        module: Any = importlib.import_module(f"keras.src.layers.rnn.{name}")
        upper = name.upper()
        connect_layer(getattr(module, upper), getattr(module, f"{upper}Cell"), run)


def connect_layer(layer: Any, cell: type, run: Callable[..., Any]) -> None:
    """Replace the loop of a class of layers, wherever `run` computes the same."""
    loop = layer.inner_loop
    if hasattr(loop, "__wrapped__"):
        return

    @functools.wraps(loop)
    def inner_loop(
        self: Any, sequences: Any, initial_state: Any, mask: Any, training: Any = False
    ) -> Any:
        if (
            training is True
            and is_standard_layer(self, cell)
            and is_float_sequence(sequences)
            and not (has_jax() and suits_xla_loop(self.cell, sequences))
        ):
            first = mask[0] if isinstance(mask, (list, tuple)) else mask
            return run_layer(self, sequences, list(initial_state), first, run)
        return loop(self, sequences, initial_state, mask, training=training)

    layer.inner_loop = inner_loop


def is_standard_layer(layer: Any, kind: type) -> bool:
    """Whether a layer has Keras's own cell, with activations and options that the op computes."""
    activations = importlib.import_module("keras.src.activations")
    cell: Any = layer.cell
    kept: Any = type(cell)
    return (
        kept is kind
        and "call" not in vars(cell)
        and cell.activation is activations.tanh
        and cell.recurrent_activation is activations.sigmoid
        and cell.activity_regularizer is None
        and not cell.recurrent_dropout
        and not (cell.dropout and cell.implementation == 1)
        and getattr(cell, "reset_after", True)
        and cell.compute_dtype == cell.variable_dtype
        and layer.use_cudnn is not True
        and not (layer.unroll and layer.zero_output_for_mask)
    )


def suits_xla_loop(cell: Any, sequences: Any) -> bool:
    """Whether the products of a step are small, so that the cost model may move the loop to XLA."""
    batch, _, features = sequences.shape.as_list()
    gates = cell.recurrent_kernel.shape[-1]
    return batch is None or batch * (features + cell.units) * gates <= MAX_XLA_STEP_PRODUCTS


def is_float_sequence(sequences: Any) -> bool:
    """Whether sequences are tensors of at least one step, in single or double precision.

    A SavedModel keeps the loop, because TensorFlow has no op for a layer.
    """
    return (
        isinstance(sequences, Tensor)
        and sequences.dtype.name in ("float32", "float64")
        and sequences.shape.rank == 3
        and bool(sequences.shape[1])
        and not any(isinstance(trace, SavingTrace) for trace in current_trace())
    )


def run_layer(layer: Any, sequences: Any, state: list[Any], mask: Any, run: Any) -> Any:
    """The last output, all outputs and the new states, as Keras's loop returns them."""
    ops: Any = importlib.import_module("keras.src.ops")
    x = sequences
    if layer.dropout:
        x = x * ops.expand_dims(layer.cell.get_dropout_mask(sequences[:, 0, :]), axis=1)
    x = ops.transpose(x, (1, 0, 2))
    if mask is not None:
        mask = ops.cast(mask, "bool")
        mask = ops.transpose(mask[..., 0] if len(mask.shape) == 3 else mask)
    if layer.go_backwards:
        x = ops.flip(x, axis=0)
        mask = None if mask is None else ops.flip(mask, axis=0)
    masked = mask is not None
    hs, states = run(layer.cell, x, state, convert(mask) if masked else NO_MASK, masked)
    if layer.return_sequences:
        outputs = hide_masked_outputs(ops, layer, ops.transpose(hs, (0, 2, 1)), mask)
        return outputs[-1], ops.transpose(outputs, (1, 0, 2)), states
    last = hide_masked_outputs(ops, layer, states[0][None], mask)
    return last[0], ops.transpose(last, (1, 0, 2)), states


def hide_masked_outputs(ops: Any, layer: Any, outputs: Any, mask: Any) -> Any:
    """Outputs are zero before the first step that counts, or at all masked steps.

    `outputs` are those of all steps, or of the last one.
    """
    if mask is None:
        return outputs
    if layer.zero_output_for_mask:
        shown = mask if layer.return_sequences else mask[-1:]
    elif layer.return_sequences:
        shown = ops.cumsum(ops.cast(mask, "int32"), axis=0) > 0
    else:
        shown = ops.any(mask, axis=0, keepdims=True)
    return ops.where(shown[..., None], outputs, zeros_like(outputs))


def run_lstm(cell: Any, x: Any, state: list[Any], mask: Any, masked: bool) -> Any:
    """Outputs (steps, hidden, batch) and the last states of an LSTM."""
    h, c = (convert(v) for v in state)
    w = concat([cell.kernel.value, cell.recurrent_kernel.value], 0)
    peep = zeros((cell.units,), x.dtype)
    b = cell.bias.value if cell.use_bias else zeros((4 * cell.units,), x.dtype)
    b = convert(b)
    weights = (w, peep, peep, peep, b, mask)
    _, cs, hs = lstm(convert(x), c, h, *weights, clip=0.0, peephole=False, masked=masked)
    ops: Any = importlib.import_module("keras.src.ops")
    return hs, [ops.transpose(hs[-1]), ops.transpose(cs[-1])]


def run_gru(cell: Any, x: Any, state: list[Any], mask: Any, masked: bool) -> Any:
    """States (steps, hidden, batch) and the last state of a GRU."""
    none = zeros((3 * cell.units,), x.dtype)
    b, bu = (cell.bias.value[0], cell.bias.value[1]) if cell.use_bias else (none, none)
    weights = (cell.kernel.value, cell.recurrent_kernel.value, b, bu)
    values = (convert(v) for v in (x, state[0], *weights))
    _, hs = gru(*values, mask, masked=masked)
    ops: Any = importlib.import_module("keras.src.ops")
    return hs, [ops.transpose(hs[-1])]
