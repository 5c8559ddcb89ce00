"""The fast path of calls with a known signature: from tensors to results."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from gradtape.core.lazy_array import get_held_array, make_lazy_tensor, make_lazy_versions
from gradtape.core.ports import XlaPort, devices
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.jit.in_place_update import InPlaceRunner, is_worth_in_place
from gradtape.jit.trace_path import TracedPath, commit, store_versions
from gradtape.state.variable.storage import current_arrays, make_version

current = attrgetter("_value")
Run = Callable[[list[Any]], Any]


def quick(plan: Any, path: TracedPath) -> Run:
    """Make a function of the tensors among a call's arguments that runs `plan`.

    For paths without variable arguments, and for calls without an active recorder.
    """
    if hasattr(plan, "start") and not plan.is_on_accelerator and not devices.active:
        return on_xla(plan, path)
    captures = [t._array for t in path.captures]
    variables = path.resolve_variables([])
    written = [variables[i] for i in path.writes]
    first, last = path.result_count, len(path.graph.outputs)
    compute, pack = plan.run, path.make_packer()
    update = InPlaceRunner(plan, path, variables) if is_worth_in_place(plan, path) else None

    def run(tensors: list[Any]) -> Any:
        raws = [t._array for t in tensors]
        raws += captures
        outputs = update(raws) if update is not None else None
        if outputs is None:
            outputs = compute(*raws, *current_arrays(variables))
            if written:
                commit(written, outputs[first:last])
        return pack(outputs)

    return run


def on_xla(plan: Any, path: TracedPath) -> Run:
    """The same for the xla engine: JAX arrays are passed and returned without conversion.

    Loops over variables run in C where possible: an optimizer has hundreds of variables.
    """
    captures = list(map(get_held_array, path.captures))
    variables = path.resolve_variables([])
    written = [variables[i] for i in path.writes]
    first, last = path.result_count, len(path.graph.outputs)
    start, kind, straight = plan.start, plan.array_type, plan.is_direct

    def tensor(value: Any) -> Tensor:
        return make_lazy_tensor(value) if type(value) is kind else make_tensor(value)

    def fetched(value: Any) -> Any:
        return XlaPort.fetch(value) if type(value) is kind else value

    pack = path.make_packer(tensor)

    def run(tensors: list[Any]) -> Any:
        given = [*map(get_held_array, tensors), *captures]
        try:
            given += map(get_held_array, map(current, variables))
        except TypeError:  # one of them is being updated
            given[len(tensors) + len(captures) :] = [
                get_held_array(v._stored_version()) for v in variables
            ]
        outputs = start(given)
        if written:
            values = outputs[first:last]
            if straight or set(map(type, values)) == {kind}:
                store_versions(written, make_lazy_versions(values))
            else:
                store_versions(written, [make_version(v) for v in map(fetched, values)])
        return pack(outputs)

    return run
