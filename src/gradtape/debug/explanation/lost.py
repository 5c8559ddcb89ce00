"""Answers for the gradients that the program itself asked for and that were None."""

from __future__ import annotations

from typing import Any

from gradtape.core.ledger import Entry, ledger
from gradtape.core.ports import ExplainPort
from gradtape.debug.explanation.answer import Answer
from gradtape.debug.explanation.question import Source, ask, explain


def answer_lost(lost: list[Entry]) -> list[Answer]:
    """An answer for each lost gradient; equal ones once."""
    entries = ledger.list_entries()
    found: dict[Any, Answer] = {}
    for entry in lost:
        answer = answer_entry(entries, entry)
        found.setdefault((answer.cause, answer.line, answer.file), answer)
    return list(found.values())


def answer_entry(entries: list[Entry], entry: Entry) -> Answer:
    """The answer for one lost gradient: the ledger up to that moment is asked."""
    (_, history), targets, (uids, key), *_ = entry
    here = next((i for i, one in enumerate(entries) if one is entry), len(entries))
    kind = ledger.kinds.get(abs(uids[0]), "") if uids else ""
    source = Source(uids, key, kind, False)
    return ask(entries[:here], history, source, {abs(u) for u in targets})


def explain_lost() -> list[Answer]:
    """Answers for the gradients that were None in the newest call of `gradient` that lost any."""
    newest = [e for e in ledger.lost if e[0][1] is ledger.lost[-1][0][1]]
    return answer_lost(newest)


ExplainPort.supply(explain=explain, explain_lost=explain_lost)
