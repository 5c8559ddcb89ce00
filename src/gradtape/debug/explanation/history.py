"""What the ledger says about one tape: when and where it recorded, paused, reset and watched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtape.core.ledger import Entry, TapeHistory
from gradtape.core.user_location import Location

Reason = tuple[str, Location, Any]  # cause, location, and a key that equal regions share
GRADIENT_NAMES = ("gradient", "jacobian", "batch_jacobian", "jvp", "gradients", "hessians")


class TapeStory:
    """The events of a tape, by position in the ledger.

    Attributes:
        serials: (position, serial number) of the records that the tape has used.
        made: where the tape was made.
        entered: where its context was first entered.
        watched: position and location of `watch`, by uid and by key of a variable.
    """

    def __init__(self, entries: Sequence[Entry], history: TapeHistory) -> None:
        """Collect the events of `history`."""
        self.history = history
        self.serials: list[tuple[int, int]] = []
        self.resets: list[tuple[int, Location]] = []
        self.states: list[tuple[int, str, int, Location]] = []
        self.made: Location = (None, -1)
        self.entered: Location = (None, -1)
        self.watched: dict[Any, tuple[int, Location]] = {}
        for position, (kind, payload, _, code, instruction, moment) in enumerate(entries):
            if type(kind) is tuple and kind[0] == "tape" and kind[2] is history:
                self.add(position, kind[1], payload, (code, instruction), moment.thread)

    def add(self, at: int, event: str, payload: Any, location: Location, thread: int) -> None:
        """Add one event."""
        if event == "made":
            self.made = location
        elif event == "enter":
            self.serials.append((at, payload))
            self.states.append((at, event, thread, location))
            if self.entered[0] is None:
                self.entered = location
        elif event in ("exit", "pause"):
            self.states.append((at, event, thread, location))
        elif event == "reset":
            self.resets.append((at, location))
        elif event == "watch":
            for uid, key in payload:
                self.watched.setdefault(abs(uid), (at, location))
                if key is not None:
                    self.watched.setdefault(("key", key), (at, location))

    def is_listening(self, entry: Entry) -> bool:
        """Whether the tape's last record was active when the entry was written."""
        return bool(self.serials) and self.serials[-1][1] in entry[5].recorders

    def state_at(self, position: int) -> tuple[int, str, int, Location] | None:
        """The last event before `position` that started, paused or ended recording."""
        found = None
        for state in self.states:
            if state[0] > position:
                break
            found = state
        return found

    def why_not_listening(self, position: int, entry: Entry) -> Reason:
        """Why the tape did not record the op of an entry."""
        kind, location, moment = entry[0], (entry[3], entry[4]), entry[5]
        for at, serial in self.serials[:-1]:
            if serial in moment.recorders:
                reset = next((loc for when, loc in self.resets if when > at), location)
                return "tape_reset", reset, ("reset", serial)
        scope = find_scope(moment.scopes)
        if scope is not None:
            return scope
        state = self.state_at(position)
        if state is not None and state[1] == "pause" and state[2] == moment.thread:
            return "stop_recording", state[3], ("pause", state[0])
        if state is not None and state[1] == "enter" and state[2] != moment.thread:
            return "other_thread", location, ("thread", moment.thread)
        if type(kind) is tuple and kind[0] == "birth" and kind[1] in GRADIENT_NAMES:
            return "inner_tape_only", location, ("outside", state is None)
        return "outside_context", location, ("outside", state is None)


def find_scope(scopes: Any) -> Reason | None:
    """The reason for which a scope of the library hid an op from tapes, or None."""
    for names, location in reversed(scopes):
        text = " ".join(names)
        if "py_function.py" in text:
            return "py_function", location, ("scope", location)
        if not names:
            return "function_boundary", location, ("scope", location)
        if "pipeline" in text and not any(n.startswith("jit") for n in names):
            return "dataset_iteration", location, ("scope", location)
        if "make_initial_value" in text:
            return "state_read", location, ("scope", location)
    return None
