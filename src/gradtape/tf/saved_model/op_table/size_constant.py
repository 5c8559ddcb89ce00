"""Host ops that make constants from sizes, such as masks and positions."""

from __future__ import annotations

import numpy as np

from gradtape.tf.saved_model.attribute_type import (
    DTYPE,
    FLAG,
    INTEGER,
    NUMBER,
    OFFSET,
    SHAPE,
    SIZE,
    Integer,
    Named,
    Optional,
)
from gradtape.tf.saved_model.op_schema import IntegerOp, RawFunctionOp
from gradtape.tf.saved_model.op_table.primitive import PADDINGS, WINDOW

COMPARISON = Named({"less_equal": np.less_equal, "greater_equal": np.greater_equal})

SIZE_CONSTANT_OPS = (
    *(
        RawFunctionOp(
            f"size.{name}",
            f"ops.initial_cotangent:make_{name}",
            start=SIZE,
            stop=SIZE,
            shape=SHAPE,
            dtype=DTYPE,
        )
        for name in ("identity_rows", "batch_identity_rows")
    ),
    RawFunctionOp("size.to_scalar", "core.size_constant:to_scalar", size=INTEGER, dtype=DTYPE),
    RawFunctionOp(
        "size.scale_power",
        "core.size_constant:scale_power",
        size=SIZE,
        factor=NUMBER,
        power=NUMBER,
        dtype=DTYPE,
    ),
    RawFunctionOp(
        "size.band_mask",
        "ops.linalg.diagonal:band_mask",
        rows=SIZE,
        columns=SIZE,
        lower=INTEGER,
        upper=INTEGER,
    ),
    RawFunctionOp(
        "size.half_sample_phases",
        "ops.signal.dct:half_sample_phases",
        n=SIZE,
        sign=INTEGER,
        dtype=DTYPE,
    ),
    RawFunctionOp(
        "size.length_factors",
        "ops.signal.dct:length_factors",
        n=SIZE,
        power=NUMBER,
        first=NUMBER,
        other=NUMBER,
        dtype=DTYPE,
    ),
    RawFunctionOp(
        "size.make_row_starts", "ops.gather_scatter:make_row_starts", batch=SHAPE, size=SIZE
    ),
    RawFunctionOp(
        "size.nearest_indices", "ops.image.filter_matrix:nearest_indices", n=SIZE, m=SIZE
    ),
    RawFunctionOp(
        "size.count_window_elements",
        "tf.nn.pool:count_window_elements",
        window=WINDOW,
        spatial=SHAPE,
        dtype=DTYPE,
    ),
    RawFunctionOp("size.mask_padding", "tf.array.pad:mask_padding", sizes=SHAPE, pairs=PADDINGS),
    RawFunctionOp(
        "size.mirror_positions",
        "tf.array.pad:mirror_positions",
        size=SIZE,
        low=SIZE,
        high=SIZE,
        edge=FLAG,
    ),
    RawFunctionOp(
        "size.mask_triangle",
        "tf.numpy.index:mask_triangle",
        keep=COMPARISON,
        k=INTEGER,
        rows=SIZE,
        columns=SIZE,
    ),
    RawFunctionOp("size.default_rcond", "tf.linalg.solve:default_rcond", size=SIZE, dtype=DTYPE),
    RawFunctionOp(
        "size.mask_diagonals",
        "tf.linalg.diagonal:mask_diagonals",
        first=OFFSET,
        last=OFFSET,
        rows=SIZE,
        columns=SIZE,
    ),
    RawFunctionOp(
        "size.inner_positions",
        "tf.array.range:inner_positions",
        count=SIZE,
        tail=SHAPE,
        dtype=DTYPE,
    ),
    IntegerOp("size.count_cropped", "tf.image.crop_flip:count_cropped", size=SIZE, fraction=NUMBER),
    IntegerOp(
        "size.fit_inside",
        "tf.image.resize:fit_inside",
        height=SIZE,
        width=SIZE,
        rows=SIZE,
        columns=SIZE,
        part=Integer(0, 3),
    ),
    RawFunctionOp("size.eye", "numpy:eye", N=SIZE, M=Optional(SIZE), k=OFFSET, dtype=DTYPE),
)
