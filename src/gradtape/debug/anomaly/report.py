"""The report of `debug.anomaly`: the first non-finite value, and what it means."""

from __future__ import annotations

import os

from gradtape.debug.anomaly.birth import Birth
from gradtape.debug.anomaly.meaning import FIXES, MEANINGS, find_cause
from gradtape.debug.explanation.answer import excerpt
from gradtape.debug.explanation.source_text import line_of


class AnomalyReport:
    """Where the first NaN or infinity came from; `cause` is None if results were finite.

    Attributes:
        cause: a short code, such as "log_zero".
        line: the line of the forward op, also if the value arose in the backward pass.
        file: the file of that line.
        op: the name of the op.
        direction: "forward" or "backward".
        fix: what to do, in one sentence.
        text: the explanation.
    """

    def __init__(self) -> None:
        """Start without a finding."""
        self.cause: str | None = None
        self.line: int | None = None
        self.file: str | None = None
        self.op = ""
        self.direction = ""
        self.fix = ""
        self._birth: Birth | None = None

    def _set(self, birth: Birth, is_masked: bool) -> None:
        """Report a birth."""
        self._birth = birth
        self.cause = find_cause(birth, is_masked)
        self.line = line_of(birth.location)
        self.file = None if birth.location[0] is None else birth.location[0].co_filename
        self.op, self.direction = birth.op, birth.direction
        self.fix = FIXES[self.cause]

    @property
    def text(self) -> str:
        """The explanation, in words."""
        birth = self._birth
        if self.cause is None or birth is None:
            return "Targets and gradients were finite."
        meaning = MEANINGS[self.cause].format(op=self.op, repeats=birth.repeats)
        place = "" if self.file is None else f" ({self.file}, line {self.line})"
        first = f"The first NaN or infinity arose in the {self.direction} pass, in {self.op}:"
        return "\n".join(
            [f"{first} {meaning}{place}", *excerpt(birth.location), f"Fix: {self.fix}"]
        )

    def __str__(self) -> str:
        """The explanation."""
        return self.text

    def __repr__(self) -> str:
        """Cause and place."""
        place = "" if self.file is None else f" at {os.path.basename(self.file)}:{self.line}"
        return f"<AnomalyReport {self.cause}{place}>"

    def _repr_html_(self) -> str:
        """The explanation, for notebooks."""
        from html import escape

        return f"<pre>{escape(self.text)}</pre>"
