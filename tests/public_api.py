"""What users can name: read off gradtape, and off TensorFlow, as text that can be compared.

`python -m tests.public_api > tests/public_api.txt` writes gradtape's names and signatures down;
`python -m tests.public_api tensorflow > tests/tensorflow_signatures.json`, where TensorFlow 2.21
is installed, does so for TensorFlow: names of parameters, and which of them have defaults.
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

OWN = ["debug", "engine", "install", "uninstall"]  # beside TensorFlow's names
# TensorFlow's namespaces that gradtape has, or may have one day; and what is not worth recording
NAMESPACES = """
audio autodiff autograph bitwise config data debugging dtypes errors experimental image io linalg
math nest nn queue random signal strings test train version
"""
PASSED_OVER = re.compile(
    r"experimental\.(dtensor|numpy)|test\.TestCase|nn\.RNNCell|linalg\.LinearOperator\w|train\.\w*Def"
)


def parameters_of(function, defaults=True):
    """Parameters as text: with their defaults, or only with a mark where there is one."""
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
    """Parameters of a callable, None for anything else; a metaclass may hide those of a class."""
    if not callable(value) or isinstance(value, EnumMeta):
        return None
    text = parameters_of(value, defaults)
    if inspect.isclass(value) and text == "*args, **kwargs":
        return parameters_of(value.__init__, defaults).removeprefix("self, ")
    return text


def is_namespace(value):
    """Whether a name stands for names of its own, rather than for what the code imports."""
    if isinstance(value, ModuleType):
        name = value.__name__
        return name.startswith(("gradtape.tf.", "tensorflow._api.")) or name == "gradtape.debug"
    return isinstance(value, SimpleNamespace)


def walk(namespace, names, prefix="", seen=None):
    """Dotted name and value of all that `names` lead to, members of classes included once."""
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
    """What a class has for users, beyond what classes of its kind or those in `seen` have."""
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
    """TensorFlow's names with the parameters of what can be called."""
    tensorflow = importlib.import_module("tensorflow")
    names = [name for name in dir(tensorflow) if not name.startswith("_")]
    return {path: arguments_of(value, False) for path, value in walk(tensorflow, names)}


@cache
def recorded():
    """What `of_tensorflow` found when it was last asked."""
    return json.loads(SIGNATURES.read_text())


def of_gradtape():
    """Public names of gradtape and what they stand for.

    The modules behind namespaces have names in them that their code merely uses; public is what
    TensorFlow has, too.
    """
    tf = importlib.import_module("gradtape")
    found = {p: value for p, value in walk(tf, tf._HOME) if p in recorded()}
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
