"""Host ops of tables, and of variables of which some elements are assigned."""

from __future__ import annotations

from gradtape.state.hash_table import TableEntries
from gradtape.tf.saved_model.attribute_type import (
    ARRAY,
    INDEX,
    AttributeType,
    Choice,
    DictOf,
    InstanceOf,
)
from gradtape.tf.saved_model.op_schema import CallOp, CheckOp, HostOp, RawFunctionOp

ENTRIES = InstanceOf(TableEntries, "a table of the model")
NEW_ARRAY = Choice(False)  # a graph never writes into the array of a variable
HOW = Choice("update", "add", "sub", "mul", "div", "max", "min")
KERNELS = "state.variable.scatter_kernel"
SCATTER: dict[str, AttributeType] = {"raw": ARRAY, "own": NEW_ARRAY}

STATE_OPS: tuple[HostOp, ...] = (
    RawFunctionOp(
        "table.look_up",
        "tf.lookup.hash_table:look_up_raw",
        keys=ARRAY,
        default=ARRAY,
        entries=ENTRIES,
    ),
    CallOp(
        "mutable_table.look_up",
        "tf.lookup.experimental:look_up_on_host",
        keys=ARRAY,
        default=ARRAY,
        entries=ENTRIES,
    ),
    CallOp("mutable_table.count", "tf.lookup.experimental:count_entries_on_host", entries=ENTRIES),
    CheckOp(
        "mutable_table.insert",
        "tf.lookup.experimental:insert_entries",
        keys=ARRAY,
        values=ARRAY,
        entries=ENTRIES,
    ),
    CheckOp(
        "mutable_table.remove",
        "tf.lookup.experimental:remove_entries",
        keys=ARRAY,
        entries=ENTRIES,
    ),
    CheckOp(
        "mutable_table.check_reserved_keys",
        "tf.lookup.experimental:check_reserved_keys",
        keys=ARRAY,
        reserved=DictOf(ARRAY),
    ),
    RawFunctionOp(
        "variable.update_rows",
        f"{KERNELS}:update_rows",
        **SCATTER,
        how=HOW,
        indices=ARRAY,
        updates=ARRAY,
    ),
    RawFunctionOp(
        "variable.update_positions",
        f"{KERNELS}:update_positions",
        **SCATTER,
        how=HOW,
        indices=ARRAY,
        updates=ARRAY,
    ),
    RawFunctionOp(
        "variable.update_batch_rows",
        f"{KERNELS}:update_batch_rows",
        **SCATTER,
        indices=ARRAY,
        updates=ARRAY,
    ),
    RawFunctionOp(
        "variable.update_slice", f"{KERNELS}:update_slice", **SCATTER, key=INDEX, value=ARRAY
    ),
)
