"""Every op on tensors of unknown sizes: specs as TensorFlow infers them, one trace for all sizes.

`tensorflow_specs.json` has the specs that TensorFlow 2.21 infers for the results of the programs of
`every_op` if every size of every argument is None: programs by specs, in the form `float32[?,3]`;
`[*]` is an unknown rank.
"""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import gradtape as tf
from gradtape.core import nest
from gradtape.core.size_context import SizeContext
from tests.jit.every_op import programs
from tests.jit.test_every_op import arrays_of, assert_same

PROGRAMS = {
    name: program
    for name, program in programs().items()
    if any(array.ndim for array in program.arrays.values())
    and name not in ("numpy/tnp.shape(x)", "array/shape/static")  # they return shapes with None
}
SPECS = {
    name: specs.split(" ")
    for specs, names in json.loads(
        Path(__file__).with_name("tensorflow_specs.json").read_text(encoding="utf-8")
    ).items()
    for name in names
}
AREAS = sorted({name.partition("/")[0] for name in PROGRAMS})

# Specs that differ from TensorFlow's
DIFFERENT = {
    "linalg/tf.linalg.diag(x, k=1, padding_value=v)": "TensorFlow wrongly infers the size 0",
    "linalg/diag/padding_value": "TensorFlow wrongly infers the size 0",
    "linalg/diag/k1_double": "TensorFlow wrongly infers the size 0",
    "array/extract_volume_patches/basic_double": "TensorFlow wrongly infers the rank 4",
    "compare/operator/eq_bad_shape": "the sizes of the traced call decide that shapes differ",
    "compare/operator/ne_bad_shape": "the sizes of the traced call decide that shapes differ",
    "compare/operator/eq_none": "the result is a Python bool",
}

# Programs that pin a size, so that other sizes need other traces. This list may only shrink.
PINNING = re.compile(
    r"""array/unstack/.*|dtypes/tensor/(len|iteration)   # the number of tensors is a size
    |functional/tensor_array/unstack_read
    |array/(tf\.)?gather_nd.*|array/gather_nd/.*       # the number of axes is a size
    |linalg/tridiagonal_matmul/compact                 # the number of diagonals is a size
    |nn/.*ctc_loss.*                                   # a loop over frames in Python
    |nn/tf\.nn\.(dilation2d|erosion2d).*               # a loop over the elements of the filter
    |numpy/tnp\.(polyval|vander|average|cross)\(.*     # loops and floats in Python
    |image/.*central_crop.*|image/resize/preserve_aspect_ratio|image/tf\.image\.resize_with_pad.*
    |image/.*crop_and_resize.*|image/tf\.image\.ssim_multiscale.*
    |nn/tf\.nn\.max_pool_with_argmax.*|array/linspace/grad_vector|signal/inverse_mdct/basic
    |random/tf\.random\.stateless_binomial.*
    |compare/operator/(eq|ne)_bad_shape
    |operator/.*|array/tf\.sparse\.to_dense.*|nn/.*embedding_lookup_sparse.*  # checks on the host
    """,
    re.VERBOSE,
)


def open_function(program, see=None):
    """A function of the program with a signature in which every size is unknown."""
    python = program.function()

    def function(*tensors):
        out = python(*tensors)
        if see is not None:
            see.extend(nest.flatten(out, expand_composites=True))
        return out

    signature = [tf.TensorSpec([None] * a.ndim, tf.constant(a).dtype) for a in arrays(program)]
    return tf.function(function, input_signature=signature)


def arrays(program):
    return list(program.arrays.values())


def show_spec(tensor):
    shape = tensor.shape
    sizes = "*" if shape.rank is None else ",".join("?" if n is None else str(n) for n in shape)
    return f"{tensor.dtype.name}[{sizes}]"


def parse_spec(text):
    dtype, _, sizes = text.rstrip("]").partition("[")
    return dtype, None if sizes == "*" else [n for n in sizes.split(",") if n]


def is_as_precise(ours, theirs):
    """Whether our spec states at least what TensorFlow's states."""
    (dtype, sizes), (wanted, others) = parse_spec(ours), parse_spec(theirs)
    if dtype != wanted or others is None:
        return dtype == wanted
    return (
        sizes is not None
        and len(sizes) == len(others)
        and all(theirs in ("?", n) for n, theirs in zip(sizes, others, strict=True))
    )


@pytest.fixture
def pinned(monkeypatch):
    """A list of the sizes that are pinned."""
    found = []
    pin = SizeContext.pin

    def note_and_pin(self, dim):
        if type(self.simplify(dim)) is not int:
            found.append(dim)
        return pin(self, dim)

    monkeypatch.setattr(SizeContext, "pin", note_and_pin)
    return found


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("area", AREAS)
def test_specs_are_as_precise_as_those_of_tensorflow_and_few_sizes_are_pinned(area, pinned):
    different, unlisted = {}, []
    for name, program in PROGRAMS.items():
        if name.partition("/")[0] != area:
            continue
        results = []
        pinned.clear()
        open_function(program, results)(*map(tf.constant, arrays(program)))
        if pinned and not PINNING.fullmatch(name):
            unlisted.append(name)
        ours, theirs = [show_spec(t) for t in results if tf.is_tensor(t)], SPECS.get(name)
        if theirs is None or name in DIFFERENT:
            continue
        if len(ours) != len(theirs) or not all(map(is_as_precise, ours, theirs)):
            different[name] = ours, theirs
    assert different == {}
    assert unlisted == []


def tile(array):
    """The array twice along each axis."""
    return np.tile(array, (2,) * array.ndim)


def cut(array):
    """The array without the last element of each axis."""
    return np.array(array[tuple(slice(0, max(n - 1, 1)) for n in array.shape)])


# Programs that draw random numbers, or whose results are Python numbers
NOT_COMPARED = re.compile(r"stream/.*|.*random.*|compare/operator/eq_none|dtypes/tensor/len")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("area", AREAS)
def test_functions_compute_the_same_as_eager_ops_at_other_sizes(area):
    wrong = {}
    for name, program in PROGRAMS.items():
        if name.partition("/")[0] != area or NOT_COMPARED.fullmatch(name):
            continue
        function, python = open_function(program), program.function()
        function(*map(tf.constant, arrays(program)))
        for change in (tile, cut):
            given = [tf.constant(change(array)) for array in arrays(program)]
            problem = compare_outcomes(function, python, given)
            if problem:
                wrong[name, change.__name__] = problem
    assert wrong == {}


def compare_outcomes(function, python, given):
    """What is different, as a text; empty if results are the same or both calls fail."""
    try:
        wanted = arrays_of(python(*given))
    except Exception as error:
        try:
            function(*given)
        except Exception:
            return ""
        return f"only the eager call raises {error!r}"
    try:
        assert_same(arrays_of(function(*given)), wanted)
    except Exception as error:
        return str(error)[:300]
    return ""
