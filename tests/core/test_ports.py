"""Ports name the functions that lower layers call in higher ones, and who supplies them."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

import gradtape
from gradtape.core import ports
from gradtape.core.ports import Port

ROOT = Path(gradtape.__file__).parent
PORTS = [p for p in vars(ports).values() if isinstance(p, type) and issubclass(p, Port)][1:]


def test_an_unsupplied_function_names_the_missing_import():
    class SamplePort(Port, supplier="gradtape.some.module"):
        function: object

    with pytest.raises(RuntimeError, match=r"SamplePort.function .* Import gradtape.some.module"):
        SamplePort.function(1, key=2)
    SamplePort.supply(function=lambda x: x + 1)
    assert SamplePort.function(1) == 2


def test_a_supplier_must_supply_exactly_the_declared_functions():
    class OtherPort(Port, supplier="gradtape.other"):
        first: object
        second: object

    for wrong in ({}, {"first": int}, {"first": int, "second": int, "third": int}):
        with pytest.raises(TypeError, match=r"gradtape.other must supply exactly \['first'"):
            OtherPort.supply(**wrong)


@pytest.mark.parametrize("port", PORTS, ids=lambda port: port.__name__)
def test_the_supplier_supplies_the_port_when_it_is_imported(port):
    path = ROOT.joinpath(*port.supplier.split(".")[1:]).with_suffix(".py")
    assert f"\n{port.__name__}.supply(" in path.read_text("utf-8")
    if "xla" in port.supplier:
        pytest.importorskip("jax")
    import_module(port.supplier)
    assert not [
        name for name in port.names if getattr(getattr(port, name), "__name__", "") == "missing"
    ]


def test_ports_are_declared_in_one_file():
    found = [
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.py")
        if any(
            isinstance(node, ast.ClassDef) and node.name.endswith("Port")
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
        )
    ]
    assert found == ["core/ports.py"]
