"""Write docs/coverage.md: which TensorFlow symbols exist, and how often each is differentiable.

    python tools/coverage.py            # write the table
    python tools/coverage.py --check    # test whether the first column is up to date

The whole table is computed. `tensorflow_symbols.txt` lists the symbols of TensorFlow 2.21; the tool
looks each of them up in gradtape. It determines the order of differentiability by nested tapes, on
the conformance cases of `tests/conformance/ops` and the examples in `SAMPLES`. An order counts if
its gradient exists. It also counts if the gradient is None and the gradient of the order before
does not change with its input, because zero is then correct.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import gradtape as tf

ROOT = Path(__file__).parent.parent
SYMBOLS = Path(__file__).with_name("tensorflow_symbols.txt")
CASES = ROOT / "tests" / "conformance" / "ops" / "public.jsonl"
TABLE = ROOT / "docs" / "coverage.md"
HIGHEST = 3
MAX_SAMPLES = 4  # per function

INTRODUCTION = f"""\
# Coverage

Written by `python tools/coverage.py`, which explains how each column is determined. A number under
"differentiable" is the highest order of derivative tested, up to {HIGHEST}. A function that
reaches {HIGHEST} has rules that consist of primitives with rules, so it has every order. "no" is a
function without a gradient, as in TensorFlow. An empty cell means that the function was not
tested, or that it has nothing to differentiate."""

RNG = np.random.default_rng(3)
X, Y = RNG.uniform(0.2, 0.8, (4, 3)), RNG.uniform(0.2, 0.8, (3,))
IMAGE, POSITIVE = RNG.uniform(0.1, 0.9, (1, 6, 6, 3)), RNG.uniform(1, 2, (3, 3)) + 3 * np.eye(3)
TAPS = RNG.uniform(0.1, 0.9, (2, 2, 3))

# Samples of functions that are not the first call of any recorded case.
SAMPLES: dict[str, tuple[str, dict[str, Any]]] = {
    "tf.math.lbeta": ("tf.math.lbeta(x)", {"x": X}),
    "tf.math.erfcinv": ("tf.math.erfcinv(x)", {"x": X}),
    "tf.math.betainc": ("tf.math.betainc(2.0, 3.0, x)", {"x": X}),
    "tf.math.approx_max_k": ("tf.math.approx_max_k(x, 2)[0]", {"x": X}),
    "tf.math.approx_min_k": ("tf.math.approx_min_k(x, 2)[0]", {"x": X}),
    "tf.add_n": ("tf.add_n([x, x])", {"x": X}),
    "tf.case": ("tf.case([(True, lambda: x * x)])", {"x": X}),
    "tf.tuple": ("tf.tuple([x * x])[0]", {"x": X}),
    "tf.guarantee_const": ("tf.guarantee_const(x)", {"x": X}),
    "tf.grad_pass_through": ("tf.grad_pass_through(tf.floor)(x)", {"x": X}),
    "tf.linalg.eigh_tridiagonal": ("tf.linalg.eigh_tridiagonal(x[0], x[1, :2])", {"x": X}),
    "tf.linalg.sqrtm": ("tf.linalg.sqrtm(x)", {"x": POSITIVE}),
    "tf.linalg.logm": ("tf.linalg.logm(x)", {"x": POSITIVE + 0j}),
    "tf.ensure_shape": ("tf.ensure_shape(x, [4, 3])", {"x": X}),
    "tf.foldr": ("tf.foldr(lambda a, t: a * t, x)", {"x": X}),
    "tf.py_function": ("tf.py_function(lambda t: t * t, [x], tf.float64)", {"x": X}),
    "tf.realdiv": ("tf.realdiv(x, y)", {"x": X, "y": Y}),
    "tf.saturate_cast": ("tf.saturate_cast(x, tf.float32)", {"x": X}),
    "tf.stop_gradient": ("tf.stop_gradient(x)", {"x": X}),
    "tf.truediv": ("tf.truediv(x, y)", {"x": X, "y": Y}),
    "tf.ones_like": ("tf.ones_like(x)", {"x": X}),
    "tf.linalg.eig": ("tf.linalg.eig(x)[0]", {"x": POSITIVE}),
    "tf.linalg.qr": ("tf.linalg.qr(x)[1]", {"x": X}),
    "tf.linalg.eigvals": ("tf.linalg.eigvals(x)", {"x": POSITIVE}),
    "tf.linalg.lu_reconstruct": ("tf.linalg.lu_reconstruct(x, [1, 0, 2])", {"x": POSITIVE}),
    "tf.linalg.lu_matrix_inverse": ("tf.linalg.lu_matrix_inverse(x, [1, 0, 2])", {"x": POSITIVE}),
    "tf.nn.isotonic_regression": ("tf.nn.isotonic_regression(x)[0]", {"x": X}),
    "tf.nn.scale_regularization_loss": ("tf.nn.scale_regularization_loss(x)", {"x": X}),
    "tf.nn.dilation2d": (
        "tf.nn.dilation2d(x, w, [1, 1, 1, 1], 'SAME', 'NHWC', [1, 1, 1, 1])",
        {"x": IMAGE, "w": TAPS},
    ),
    "tf.nn.erosion2d": (
        "tf.nn.erosion2d(x, w, [1, 1, 1, 1], 'SAME', 'NHWC', [1, 1, 1, 1])",
        {"x": IMAGE, "w": TAPS},
    ),
    "tf.nn.max_pool_with_argmax": (
        "tf.nn.max_pool_with_argmax(x, 2, 2, 'SAME')[0]",
        {"x": IMAGE},
    ),
    "tf.nn.batch_norm_with_global_normalization": (
        "tf.nn.batch_norm_with_global_normalization(x, y, y, y, y, 0.1, True)",
        {"x": IMAGE, "y": Y},
    ),
    "tf.image.adjust_contrast": ("tf.image.adjust_contrast(x, 2.0)", {"x": IMAGE}),
    "tf.image.adjust_hue": ("tf.image.adjust_hue(x, 0.1)", {"x": IMAGE}),
    "tf.image.adjust_saturation": ("tf.image.adjust_saturation(x, 0.5)", {"x": IMAGE}),
    "tf.image.rgb_to_grayscale": ("tf.image.rgb_to_grayscale(x)", {"x": IMAGE}),
    "tf.image.psnr": ("tf.image.psnr(x, x * 0.5, 1.0)", {"x": IMAGE}),
    "tf.image.resize_with_pad": ("tf.image.resize_with_pad(x, 8, 4)", {"x": IMAGE}),
    "tf.image.convert_image_dtype": ("tf.image.convert_image_dtype(x, tf.float32)", {"x": IMAGE}),
    "tf.image.crop_and_resize": (
        "tf.image.crop_and_resize(x, [[0.1, 0.1, 0.7, 0.8]], [0], [3, 3])",
        {"x": IMAGE},
    ),
    "tf.image.ssim_multiscale": (
        "tf.image.ssim_multiscale(x, x * x, 1.0, power_factors=(0.5, 0.5), filter_size=3)",
        {"x": IMAGE},
    ),
    **{
        f"tf.image.stateless_random_{what}": (
            f"tf.image.stateless_random_{what}(x, {bounds}, [1, 2])",
            {"x": IMAGE},
        )
        for what, bounds in {
            "brightness": 0.2,
            "contrast": "0.5, 0.9",
            "hue": 0.1,
            "saturation": "0.5, 0.9",
            "crop": "[1, 3, 3, 3]",
        }.items()
    },
    "tf.signal.irfftnd": ("tf.signal.irfftnd(x, [4, 4], [0, 1])", {"x": X + 0j}),
    "tf.signal.mdct": ("tf.signal.mdct(x, 4)", {"x": RNG.uniform(-1, 1, 12)}),
    "tf.signal.rfft3d": ("tf.signal.rfft3d(x)", {"x": IMAGE[0]}),
    "tf.signal.fftnd": ("tf.signal.fftnd(x, [4, 3], [0, 1])", {"x": X + 0j}),
    "tf.signal.ifftnd": ("tf.signal.ifftnd(x, [4, 3], [0, 1])", {"x": X + 0j}),
    "tf.signal.rfftnd": ("tf.signal.rfftnd(x, [4, 3], [0, 1])", {"x": X}),
}


def symbols() -> list[tuple[str, str]]:
    """Name and kind of every symbol of TensorFlow."""
    lines = SYMBOLS.read_text(encoding="utf-8").splitlines()
    return [(name, kind) for name, kind in (line.split() for line in lines)]


def find_symbol(name: str) -> Any:
    """The object of gradtape with a dotted name; None if there is none."""
    value: Any = tf
    for part in name.split(".")[1:]:
        try:
            value = getattr(value, part)
        except (AttributeError, ImportError):
            return None
    return value


def is_supported(name: str, kind: str) -> bool:
    """Whether gradtape has a symbol; Keras's namespaces count, though they need Keras."""
    if name in ("tf.keras", "tf.initializers", "tf.losses", "tf.metrics", "tf.optimizers"):
        return True
    return name == "tf.newaxis" or find_symbol(name) is not None


def make_input(record: dict[str, Any]) -> Any:
    """Make an input of a recorded case; floats become float64, to detect small changes."""
    if record["dtype"].startswith("complex"):
        return np.array(record["data"]["re"]) + 1j * np.array(record["data"]["im"])
    if not record["dtype"].startswith(("int", "uint", "float", "bool")):
        raise ValueError(f"the dtype must be numeric. Received {record['dtype']}.")
    dtype = "float64" if record["dtype"].startswith("float") else record["dtype"]
    return np.array(record["data"], dtype).reshape(record["shape"])


def read_cases() -> dict[int, list[tuple[str, dict[str, Any]]]]:
    """Expressions and inputs, keyed by the function that is called first; simplest ones first."""
    cases: dict[int, list[tuple[str, dict[str, Any]]]] = {}
    with CASES.open(encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    records.sort(key=lambda r: (len(re.findall(r"tf\.", r["expr"])), "_double" not in r["id"]))
    for record in records:
        head = re.match(r"(tf\.[\w.]+)\(", record["expr"])
        if head is None or "raises" in record or not record.get("diff"):
            continue
        try:
            inputs = {name: make_input(value) for name, value in record["inputs"].items()}
        except (TypeError, ValueError):
            continue
        cases.setdefault(id(find_symbol(head[1])), []).append((record["expr"], inputs))
    return cases


def weighted_sum(values: Any) -> Any:
    """A scalar that depends on every element of every float tensor among `values`."""
    total = None
    for value in tf.nest.flatten(values):
        if not isinstance(value, tf.Tensor) or not (
            value.dtype.is_floating or value.dtype.is_complex
        ):
            continue
        weights = np.cos(np.arange(int(tf.size(value)), dtype=float)).reshape(value.shape)
        part = tf.reduce_sum(value * tf.cast(weights, value.dtype))
        part = tf.cast(tf.math.real(part), tf.float64)
        total = part if total is None else total + part
    return total


def derivative(f: Callable[[Any], Any], order: int) -> Callable[[Any], Any]:
    """Make the function that differentiates `f` `order` times; it returns None without gradient."""
    if order == 0:
        return f
    inner = derivative(f, order - 1)

    def outer(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            value = inner(x)
            total = None if value is None else weighted_sum(value)
        return None if total is None else tape.gradient(total, x)

    return outer


def order_of(expression: str, inputs: dict[str, Any], wrt: str) -> int:
    """How often the expression can be differentiated with respect to one input, up to HIGHEST."""
    tensors = {name: tf.constant(value) for name, value in inputs.items()}

    def f(x: Any) -> Any:
        return eval(expression, {"tf": tf, "np": np, **tensors, wrt: x})

    x = tensors[wrt]
    shifted = x + tf.cast(1e-3 * np.sin(1 + np.arange(int(tf.size(x)))).reshape(x.shape), x.dtype)
    for order in range(1, HIGHEST + 1):
        if derivative(f, order)(x) is not None:
            continue
        before = derivative(f, order - 1)
        if order == 1 or not are_equal(before(x), before(shifted)):
            return order - 1
        return HIGHEST
    return HIGHEST


def are_equal(a: Any, b: Any) -> bool:
    """Whether two gradients are the same numbers."""
    return bool(np.allclose(tf.convert_to_tensor(a), tf.convert_to_tensor(b), 1e-9, 1e-12))


def orders(samples: list[tuple[str, dict[str, Any]]]) -> Iterator[int]:
    """Yield the order of each sample and differentiable input."""
    for expression, inputs in samples:
        for name, value in inputs.items():
            if value.dtype.kind in "fc":
                try:
                    yield order_of(expression, inputs, name)
                except (TypeError, ValueError, LookupError, NotImplementedError, tf.errors.OpError):
                    continue


def differentiability(name: str, cases: dict[int, list[tuple[str, dict[str, Any]]]]) -> str:
    """How often a function can be differentiated, as text; "" if there are no samples."""
    samples = cases.get(id(find_symbol(name)), [])[:MAX_SAMPLES]
    samples += [sample for key, sample in SAMPLES.items() if find_symbol(key) is find_symbol(name)]
    best = max(orders(samples), default=None)
    if best is None:
        return ""
    return {0: "no", HIGHEST: f"{HIGHEST} and more"}.get(best, str(best))


def find_presence() -> dict[str, bool]:
    """Whether gradtape has each symbol."""
    return {name: is_supported(name, kind) for name, kind in symbols()}


def parse_presence(text: str) -> dict[str, bool]:
    """The same, parsed from the text of a table."""
    rows = re.findall(r"^\| `(tf\.[\w.]+)` \| (yes|no) \|", text, re.MULTILINE)
    return {name: answer == "yes" for name, answer in rows}


def make_page() -> str:
    """Make the whole page."""
    cases = read_cases()
    here = find_presence()
    lines = [INTRODUCTION]
    for space in ("tf", "tf.math", "tf.nn", "tf.linalg", "tf.signal", "tf.image"):
        members = [(n, k) for n, k in symbols() if n.rpartition(".")[0] == space]
        count = sum(here[name] for name, _ in members)
        lines += ["", f"## {space}: {count} of {len(members)}", ""]
        lines += ["| symbol | here | kind | differentiable |", "|---|---|---|---|"]
        for name, kind in members:
            can = differentiability(name, cases) if here[name] and kind == "function" else ""
            lines.append(f"| `{name}` | {'yes' if here[name] else 'no'} | {kind} | {can} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write the table, or check it."""
    parser = argparse.ArgumentParser(description="Write or check docs/coverage.md.")
    parser.add_argument("--check", action="store_true", help="only check the first column")
    if parser.parse_args().check:
        return 0 if parse_presence(TABLE.read_text(encoding="utf-8")) == find_presence() else 1
    TABLE.write_text(make_page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
