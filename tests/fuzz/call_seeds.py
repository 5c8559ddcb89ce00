"""Public callables, and valid calls of them recorded from the conformance cases and docstrings."""

import ast
import contextlib
import doctest
import inspect
import io
import json
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import gradtape as tf
from tests.conformance.ops.run import make_input

ROOT = Path(__file__).parents[2]
OPS = ROOT / "tests" / "conformance" / "ops" / "public.jsonl"
LISTING = ROOT / "tests" / "public_api.txt"
VALID_CALLS = Path(__file__).with_name("valid_calls.txt")
PROGRAMS = ROOT / "tests" / "conformance" / "tape" / "public.jsonl"
SOURCES = Path(tf.__file__).parent
CALLS_PER_TARGET = 8
SKIPPED = {  # change the process, or end it
    *("install", "uninstall", "test.main", "debugging.enable_traceback_filtering"),
    *("debugging.disable_traceback_filtering",),
    "debug.Answer",  # a result, which users do not make
    *("data.Dataset", "data.Iterator", "data.NumpyIterator"),  # abstract in TensorFlow
}
# Namespaces that `tests/tensorflow_signatures.json` does not list, with TensorFlow's names there.
MORE_NAMES = {
    "audio": "decode_wav encode_wav",
    "compat": "as_bytes as_str as_str_any as_text dimension_at_index dimension_value path_to_str",
    "experimental.dlpack": "from_dlpack to_dlpack",
    "lookup": "KeyValueTensorInitializer StaticHashTable StaticVocabularyTable TextFileInitializer",
    "lookup.experimental": "DenseHashTable MutableHashTable",
    "profiler.experimental": "Profile ProfilerOptions Trace",
    "ragged": "boolean_mask constant cross map_flat_values range row_splits_to_segment_ids "
    "segment_ids_to_row_splits stack stack_dynamic_partitions",
    "raw_ops": "BlockLSTM BlockLSTMV2 Bucketize ImageProjectiveTransformV3 LSTMBlockCell UniqueV2 "
    "UniqueWithCountsV2",
    "saved_model": "Asset LoadOptions SaveOptions contains_saved_model load save",
    "sets": "difference intersection size union",
    "sparse": "add bincount concat cross cross_hashed expand_dims eye fill_empty_rows from_dense "
    "map_values maximum minimum reduce_max reduce_sum reorder reset_shape reshape retain "
    "segment_mean segment_sqrt_n segment_sum slice softmax sparse_dense_matmul split to_dense "
    "to_indicator transpose",
    "summary": "create_file_writer create_noop_writer flush histogram image record_if scalar "
    "should_record_summaries text trace_export trace_off trace_on write",
    "summary.experimental": "get_step set_step summary_scope",
}


@dataclass
class Target:
    """A public callable with its valid calls."""

    path: str
    function: Any
    parameters: tuple[str, ...] = ()
    calls: list[tuple[tuple, dict]] = field(default_factory=list)


def parameters_of(function):
    """The parameters of a callable, without `self`."""
    try:
        named = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ("x", "y")
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return tuple(p.name for p in named if p.kind not in variable and p.name != "self")


def belongs_to_gradtape(value):
    """Whether a callable is gradtape's and not imported from elsewhere."""
    return str(getattr(value, "__module__", "")).startswith("gradtape")


def find_value(path):
    """The object of gradtape with a dotted name."""
    value = tf
    for part in path.split("."):
        value = getattr(value, part)
    return value


def list_paths():
    """Dotted names of the public functions, classes, and class and static methods."""
    listed = LISTING.read_text(encoding="utf-8").splitlines()
    paths = [line.removeprefix("class ").partition("(")[0] for line in listed if "(" in line]
    numpy = vars(tf.experimental.numpy)
    names = {**MORE_NAMES, "experimental.numpy": " ".join(n for n in numpy if n[0] != "_")}
    return paths + [f"{space}.{name}" for space in names for name in names[space].split()]


def needs_instance(path):
    """Whether a dotted name is a method of an object."""
    owner, _, name = path.rpartition(".")
    if not owner or not inspect.isclass(cls := find_value(owner)):
        return False
    return not isinstance(inspect.getattr_static(cls, name), (classmethod, staticmethod, type))


def list_targets():
    """The public functions and classes, by path; aliases once."""
    seen = set()
    found = {}
    for path in list_paths():
        value = find_value(path)
        if path in SKIPPED or not belongs_to_gradtape(value) or key_of(value) in seen:
            continue
        if callable(value) and not needs_instance(path):
            seen.add(key_of(value))
            found[path] = Target(path, value, parameters_of(value))
    return found


def key_of(function):
    """What identifies a callable; a bound method is made anew at each access."""
    receiver = getattr(function, "__self__", None)
    return (id(receiver), function.__name__) if receiver is not None else id(function)


class Recorder(ast.NodeTransformer):
    """Rewrites `f(a, k=b)` to `record(f, a, k=b)`."""

    def visit_Call(self, node):
        self.generic_visit(node)
        node.args.insert(0, node.func)
        node.func = ast.Name("record_call", ast.Load())
        return node


class Recording:
    """Valid calls of the targets while programs run."""

    def __init__(self, targets, limit=CALLS_PER_TARGET):
        self.targets = targets
        self.limit = limit
        self.by_key = {key_of(t.function): t for t in targets.values()}

    def record_call(self, function, *args, **kwargs):
        """Call `function`; keep the arguments if the call succeeds and the function is public."""
        before = (args, dict(kwargs))
        result = function(*args, **kwargs)
        target = self.find_target(function)
        if target is None or tf.inside_function():
            return result
        if len(target.calls) < self.limit:
            target.calls.append(before)
        return result

    def find_target(self, function):
        """The target of a callable; methods of objects become targets of their own."""
        if (target := self.by_key.get(key_of(function))) is not None:
            return target
        receiver = getattr(function, "__self__", None)
        name = getattr(function, "__name__", "_")
        if receiver is None or name.startswith("_") or not belongs_to_gradtape(type(receiver)):
            return None
        if hasattr(type(receiver), "DESCRIPTOR"):  # a protocol buffer
            return None
        path = function.__qualname__
        if path not in self.targets:
            self.targets[path] = Target(path, function, parameters_of(function))
        return self.targets[path]

    def run(self, source, names):
        """Run a program with its calls recorded; programs may fail."""
        with contextlib.suppress(Exception):
            tree = ast.fix_missing_locations(Recorder().visit(ast.parse(source)))
            exec(compile(tree, "<seed>", "exec"), {**names, "record_call": self.record_call})


def read_lines(path, every):
    """The records of a file of JSON lines, each `every`-th."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in list(lines)[::every]]


def record_ops(recording, every):
    """Record the calls of the op corpus."""
    for case in read_lines(OPS, every):
        with contextlib.suppress(Exception):
            inputs = {name: make_input(tf, spec) for name, spec in case["inputs"].items()}
            recording.run(case["expr"], {"tf": tf, "np": np, **inputs})


def record_programs(recording):
    """Record the calls of the tape programs that need neither Keras nor files."""
    for case in read_lines(PROGRAMS, 1):
        if not {"keras", "files", "threads"} & set(case["needs"]):
            source = case["program"].replace("import tensorflow as tf", "import gradtape as tf")
            recording.run(source, {"__name__": "seed"})


def record_docstrings(recording):
    """Record the calls of the examples in docstrings."""
    parser = doctest.DocTestParser()
    for path in sorted(SOURCES.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            text = getattr(node, "value", None)
            if isinstance(text, str) and ">>> " in text:
                source = "".join(example.source for example in parser.get_examples(text))
                recording.run(source, {"tf": tf, "gradtape": tf, "np": np})


def make_names():
    """The values that the lines of `valid_calls.txt` use."""
    return {
        "tf": tf,
        "S": tf.sparse.from_dense([[0.0, 1.0], [2.0, 0.0]]),
        "R": tf.ragged.constant([[1.0], [2.0, 3.0]]),
        "I": tf.fill([1, 4, 4, 3], 0.5),
        "T": tf.constant(["a b", "c"]),
        "M": tf.constant([[2.0, 0.5], [0.5, 1.0]]),
        "B": tf.image.encode_png(tf.zeros([2, 2, 3], tf.uint8)),
        "D": tf.data.Dataset.range(3),
    }


def record_listed(recording):
    """Record the calls in `valid_calls.txt`."""
    names = make_names()
    for line in VALID_CALLS.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            recording.run(line, names)


def load_targets(quick=False):
    """All targets with valid calls; `quick` records a part of the conformance cases only."""
    targets = list_targets()
    recording = Recording(targets)
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        record_ops(recording, 7 if quick else 1)
        record_listed(recording)
        if not quick:
            record_docstrings(recording)
            record_programs(recording)
    return [targets[path] for path in sorted(targets)]
