"""Dead code: calls whose results nobody reads."""

from __future__ import annotations

from gradtape.compile.plan import Call, Plan


def dead(plan: Plan) -> Plan:
    """Without calls that neither an output nor an effect depends on."""
    wanted = {o for o in plan.outputs if type(o) is int}
    kept: list[Call] = []
    for call in reversed(plan.calls):
        if call.effect or not wanted.isdisjoint(call.outs):
            kept.append(call)
            wanted.update(call.reads())
    kept.reverse()
    return plan.having(kept)
