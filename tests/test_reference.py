"""The API reference describes every public function: its arguments and its result."""

import importlib.util
import inspect
from pathlib import Path

FILE = Path(__file__).parents[1] / "tools" / "reference.py"
SPEC = importlib.util.spec_from_file_location("reference", FILE)
reference = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(reference)


def public_functions():
    """Public functions by name."""
    for values in reference.collect_names().values():
        for path, value in values.items():
            if callable(value) and not inspect.isclass(value):
                yield path, value


def missing_sections(function):
    """Which of the sections `Args` and `Returns` a docstring lacks."""
    doc = inspect.getdoc(function) or ""
    try:
        parameters = set(inspect.signature(function).parameters) - {"self", "cls", "name"}
    except (TypeError, ValueError):
        parameters = set()
    missing = ["Args"] if parameters and "Args:" not in doc and "parameters of" not in doc else []
    return missing if "Returns:" in doc or "Yields:" in doc else [*missing, "Returns"]


def test_every_public_function_describes_its_arguments_and_its_result():
    found = {
        path: missing_sections(function)
        for path, function in public_functions()
        if getattr(function, "__module__", "").startswith("gradtape.")
    }
    assert len(found) > 600
    assert {path: missing for path, missing in found.items() if missing} == {}


def test_a_function_without_sections_is_found():
    def add(x, y):
        """Sum."""

    assert missing_sections(add) == ["Args", "Returns"]


def test_pages_have_a_directive_for_each_name(tmp_path):
    names = reference.write_pages(tmp_path)
    assert {"tf", "tf.math", "gradtape.func"} <= set(names)
    text = (tmp_path / "tf.math.rst").read_text(encoding="utf-8")
    assert ".. py:function:: tf.math.tanh(x, name=None)" in text
    assert "- ``x``: a tensor of floats" in text


def public_methods():
    """Public methods of public classes, by class and name."""
    for values in reference.collect_names().values():
        for path, value in values.items():
            if inspect.isclass(value) and value.__module__.startswith("gradtape."):
                for name, member in reference.public_members(value):
                    if not isinstance(member, property):
                        yield f"{path}.{name}", getattr(member, "__func__", member)


def test_every_public_method_describes_its_arguments():
    found = {path: missing_sections(method) for path, method in public_methods()}
    assert len(found) > 500
    assert {path for path, missing in found.items() if "Args" in missing} == set()
