"""The public names and signatures of gradtape and of TensorFlow, as text.

`python -m tests.public_api > tests/public_api.txt` writes gradtape's names and signatures.
`python -m tests.public_api tensorflow > tests/tensorflow_signatures.json` needs TensorFlow 2.21 and
writes its parameter names, and which of them have defaults.
"""

import importlib
import inspect
import json
import re
import sys
from enum import Enum, EnumMeta
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace

HERE = Path(__file__).parent
LISTING = HERE / "public_api.txt"
SIGNATURES = HERE / "tensorflow_signatures.json"

OWN = [
    "debug",
    "engine",
    "func",
    "install",
    "interop",
    "uninstall",
]  # names that TensorFlow does not have
# TensorFlow's namespaces to record, and names in them to skip
NAMESPACES = """
audio autodiff autograph bitwise config data debugging dtypes errors experimental image io linalg
math nest nn queue random signal strings test train version
"""
PASSED_OVER = re.compile(
    r"experimental\.(dtensor|numpy)|test\.TestCase|nn\.RNNCell|linalg\.LinearOperator\w|train\.\w*Def"
)


def parameters_of(function, defaults=True):
    """Parameters as text, with their defaults, or with only a `=` for a default."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # not written in Python
        return None
    shown = []
    for one in parameters:
        if one.kind is one.KEYWORD_ONLY and not any(text.startswith("*") for text in shown):
            shown.append("*")
        text = str(one.replace(annotation=one.empty, default=one.empty))
        if one.default is not one.empty:
            text += f"={plain(one.default)}" if defaults else "="
        shown.append(text)
    return ", ".join(shown)


def plain(value):
    """A default as users would write it."""
    return (
        value.__name__
        if callable(value)
        else str(value)
        if isinstance(value, Enum)
        else repr(value)
    )


def arguments_of(value, defaults=True):
    """Parameters of a callable as text, None for other values.

    A metaclass may hide the parameters of a class.
    """
    if not callable(value) or isinstance(value, EnumMeta):
        return None
    text = parameters_of(value, defaults)
    if inspect.isclass(value) and text == "*args, **kwargs":
        return parameters_of(value.__init__, defaults).removeprefix("self, ")
    return text


def is_namespace(value):
    """Whether a value is a public namespace, not a module that the code imports."""
    if isinstance(value, ModuleType):
        name = value.__name__
        return name.startswith(("gradtape.tf.", "tensorflow._api.")) or name in (
            "gradtape.debug",
            "gradtape.func",
        )
    return isinstance(value, SimpleNamespace)


def walk(namespace, names, prefix="", seen=None):
    """Yield dotted name and value of all public names; members of a class appear once."""
    seen = set() if seen is None else seen
    for name in sorted(names):
        value = getattr(namespace, name)
        path = prefix + name
        if PASSED_OVER.match(path):
            continue
        if not is_namespace(value):
            yield path, value
            if inspect.isclass(value) and value not in seen:
                yield from ((f"{path}.{m}", getattr(value, m, None)) for m in members(value, seen))
                seen.add(value)
        elif prefix.count(".") < 2 and (prefix or name in [*NAMESPACES.split(), *OWN]):
            inner = [n for n in vars(value) if not n.startswith("_")]
            yield from walk(value, inner, f"{path}.", seen)


def members(cls, seen):
    """Public members of a class that builtins and the classes in `seen` do not have."""
    if hasattr(cls, "DESCRIPTOR"):  # a protocol buffer
        return
    bases = (object, int, tuple, Exception)
    usual = {name for base in bases if issubclass(cls, base) for name in dir(base)}
    for name in sorted(set(dir(cls)) - usual):
        value = getattr(cls, name, None)
        inherited = any(getattr(base, name, None) is value for base in cls.__mro__ if base in seen)
        if not name.startswith("_") and not inherited:
            yield name


def of_tensorflow():
    """TensorFlow's names, with the parameters of the callable ones."""
    tensorflow = importlib.import_module("tensorflow")
    names = [name for name in dir(tensorflow) if not name.startswith("_")]
    return {path: arguments_of(value, False) for path, value in walk(tensorflow, names)}


@cache
def recorded():
    """The saved result of `of_tensorflow`."""
    return json.loads(SIGNATURES.read_text())


def of_gradtape():
    """Public names of gradtape and their values.

    The modules of namespaces also contain imported names; only names that TensorFlow has are
    public.
    """
    tf = importlib.import_module("gradtape")
    found = {p: value for p, value in walk(tf, tf._MODULE_OF) if p in recorded()}
    return found | {p: value for p, value in walk(tf, OWN) if not isinstance(value, ModuleType)}


def listing():
    """One line for each public name."""
    lines = []
    for path, value in of_gradtape().items():
        arguments = arguments_of(value)
        kind = "class " if inspect.isclass(value) else ""
        lines.append(path if arguments is None else f"{kind}{path}({arguments})")
    return "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    wanted = json.dumps(of_tensorflow(), indent=0) + "\n" if sys.argv[1:] else listing()
    sys.stdout.write(wanted)
