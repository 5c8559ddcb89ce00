"""tf.raw_ops against TensorFlow's: signatures of the registry, and one call of each op."""

import io
import re

import numpy as np
import pytest
import tensorflow
from PIL import Image

import gradtape
from gradtape.tf.raw_ops.registry import read_rows
from tests.parity.differential import explain_difference, outcome
from tests.parity.raw_op_calls import CALLS, DEFAULTS, NAMES
from tests.parity.raw_op_signature import describe_op

RNG = np.random.default_rng(5)
PIXELS = np.arange(48, dtype=np.uint8).reshape(4, 4, 3) * 5
OPS = read_rows()
UNCOMPARED = {
    "DecodeAndCropJpeg": "the decoder's cosine transform",
    "DecodeJSONExample": "packed numbers",
    "DecodeJpeg": "the decoder's cosine transform",
    "EncodeJpeg": "bytes of the encoder",
    "EncodeJpegVariableQuality": "bytes of the encoder",
    "EncodePng": "bytes of the encoder",
    "StatelessParameterizedTruncatedNormal": "another stream",
    "Timestamp": "the time",
}


def encode(form):
    file = io.BytesIO()
    Image.fromarray(PIXELS).save(file, form)
    return file.getvalue()


def uniform(*shape):
    return RNG.uniform(0, 1, shape).astype(np.float32)


VALUES = {
    "IMAGE": uniform(1, 4, 4, 3),
    "PIXELS": PIXELS,
    "BATCH": uniform(4, 2, 2, 1),
    "VOLUME": uniform(1, 2, 3, 4, 2),
    "FILTER": uniform(2, 2, 3, 2),
    "OUT": uniform(1, 4, 4, 2),
    "OUT6": uniform(1, 4, 4, 6),
    "FILTER3": uniform(2, 1, 2, 2, 1),
    "OUT3": uniform(1, 2, 3, 4, 1),
    "BOXES": np.array([[0, 0, 1, 1], [0, 0, 0.9, 1], [0.5, 0.5, 1, 1]], np.float32),
    "SCORES": np.array([0.9, 0.8, 0.7], np.float32),
    "Z": np.array([1 + 2j, 3 - 1j], np.complex64),
    "JPEG": encode("JPEG"),
    "PNG": encode("PNG"),
    "BMP": encode("BMP"),
    "GIF": encode("GIF"),
    "WAV": tensorflow.audio.encode_wav([[0.5], [-0.5]], 8000).numpy(),
    "TENSOR": tensorflow.io.serialize_tensor([1.0, 2.0]).numpy(),
}
VALUES["IMAGE_POOLED"] = tensorflow.nn.max_pool2d(VALUES["IMAGE"], 2, 1, "SAME").numpy()
VALUES["VOLUME_POOLED"] = tensorflow.nn.max_pool3d(VALUES["VOLUME"], 2, 1, "SAME").numpy()
GIVEN = dict(line.split(" ", 1) for line in CALLS.strip().splitlines())


def call_of(op):
    """A call of the op, as source."""
    given = GIVEN.get(op.name, "")
    for name, text in NAMES.items():
        given = re.sub(rf"\b{name}\b", text, given)
    parts = [given] if given else []
    for p in op.parameters:
        if not re.search(rf"(^|, ){p.name}=", given) and p.default is None:
            parts.append(f"{p.name}={DEFAULTS[p.name]}")
    return f"tf.raw_ops.{op.name}({drop_repeated(', '.join(parts))})"


def drop_repeated(text):
    """Keep the last of keywords that occur twice."""
    found = re.findall(r"(?:^|, )(\w+)=(.*?)(?=, \w+=|$)", text)
    return ", ".join(f"{name}={value}" for name, value in dict(found).items())


@pytest.mark.parametrize("name", OPS)
def test_signature(name):
    op = OPS[name]
    parts = [f"{p.name}: {p.type}" + (f"={p.default}" if p.default else "") for p in op.parameters]
    results = ", ".join(f"{a}: {b}" for a, b in op.results) or "nothing"
    assert (f"{name}({', '.join(parts)}) -> {results}", op.inferred) == describe_op(name)


@pytest.mark.parametrize("name", OPS)
def test_call(name, tmp_path):
    (tmp_path / "file").write_bytes(b"content")
    names = {**VALUES, "FILE": str(tmp_path / "file"), "TARGET": str(tmp_path / "target")}
    call = call_of(OPS[name])
    theirs, ours = (outcome(call, library, names) for library in (tensorflow, gradtape))
    assert not isinstance(theirs, str), f"{call}: {theirs}"
    if name in UNCOMPARED:
        assert not isinstance(ours, str), f"{call}: {ours}"
    else:
        assert explain_difference(ours, theirs) is None, call


def test_positional_arguments_are_refused():
    for library in (tensorflow, gradtape):
        with pytest.raises(TypeError, match="only takes keyword args"):
            library.raw_ops.Add(1, 2)


def test_results_are_named():
    for library in (tensorflow, gradtape):
        assert library.raw_ops.TopKV2(input=[1.0, 3.0], k=1)._fields == ("values", "indices")
