"""The state of Dataset.scan and reduce: its specs, one step, and checks of what a step returns."""

from __future__ import annotations

from typing import Any

from gradtape.core.errors import InvalidArgumentError
from gradtape.pipeline.element.output_spec import join_specs
from gradtape.pipeline.element.structure import (
    flatten_element,
)
from gradtape.pipeline.user_function import UserFunction


def infer_scan_spec(scan_func: UserFunction, state: Any, spec: Any) -> Any:
    """The spec of the outputs of a scan; the state's sizes are unknown where they change."""
    while True:
        found = scan_func.infer_output_spec((state, spec))
        after, output = check_scan_result(found)
        covering = join_specs(state, after)
        if covering == state:
            return output
        state = covering


def run_scan_step(scan_func: UserFunction, state: Any, element: Any) -> tuple[Any, Any]:
    """Call `scan_func` and check its result: the new state and the output."""
    result = check_scan_result(scan_func.apply((state, element)))
    check_state_dtypes("scan", state, result[0])
    return result


def check_scan_result(result: Any) -> tuple[Any, Any]:
    """Check that a scan function has returned a new state and an output."""
    if not isinstance(result, tuple) or len(result) != 2:
        raise TypeError(
            "scan: Invalid `scan_func`. `scan_func` should return a pair consisting of new state "
            f"and the output value. Received {type(result)}."
        )
    return result


def check_state_dtypes(op: str, before: Any, after: Any) -> None:
    """Raise TypeError unless the new state has the dtypes of the old one."""
    old, new = flatten_element(before), flatten_element(after)
    kinds = [getattr(leaf, "dtype", None) for leaf in old]
    found = [getattr(leaf, "dtype", None) for leaf in new]
    if op == "reduce" and len(kinds) != len(found):
        raise InvalidArgumentError(
            f"{op}: the function must return as many components as the initial state has, "
            f"{len(kinds)}. Received {len(found)}."
        )
    if kinds != found:
        raise TypeError(
            f"{op}: the new state must have the dtypes of the initial state, {kinds}. "
            f"Received {found}."
        )
