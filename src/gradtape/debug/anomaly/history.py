"""What the ledger says about the neighbours of an op that made a non-finite value."""

from __future__ import annotations

from gradtape.core.ledger import Entry
from gradtape.core.user_location import Location
from gradtape.debug.anomaly.birth import Birth

MOVES = frozenset(
    ("reshape", "identity", "cast", "transpose", "spread", "broadcast_to", "slice_", "squeeze")
)
FAR = 6  # ops between a value and the ops that count as its origin


class OpHistory:
    """The ops of the ledger, by the uids of their inputs and results."""

    def __init__(self, entries: list[Entry]) -> None:
        """Index the entries of ops."""
        self.makers: dict[int, Entry] = {}
        self.users: dict[int, list[Entry]] = {}
        self.counts: dict[Location, int] = {}
        self.ops: list[tuple[int, Entry]] = []
        for position, entry in enumerate(entries):
            if not hasattr(entry[0], "rules"):
                continue
            self.ops.append((position, entry))
            place = (entry[3], entry[4])
            self.counts[place] = self.counts.get(place, 0) + 1
            for out in entry[2] if type(entry[2]) is tuple else (entry[2],):
                self.makers[abs(out)] = entry
            for uid in entry[1]:
                if uid:
                    self.users.setdefault(abs(uid), []).append(entry)

    def complete(self, birth: Birth) -> None:
        """Add the ops around a birth to it."""
        entry = self.makers.get(birth.uid) if birth.uid else self.find_entry(birth)
        if entry is None:
            return
        if birth.location[0] is None:
            birth.location = (entry[3], entry[4])
            if birth.op == "gradient":
                birth.op = entry[0].name
        place = (entry[3], entry[4])
        birth.repeats = self.counts.get(place, 0)
        birth.context = tuple(self.origins(entry))
        birth.uses = frozenset(self.later_ops(entry))
        birth.is_softmax = self.is_softmax(entry)
        if self.is_norm(entry):
            birth.facts |= {"norm"}

    def find_entry(self, birth: Birth) -> Entry | None:
        """The entry that was written after a birth by the same op at the same place."""
        for position, entry in self.ops:
            place = (entry[3], entry[4])
            if (
                position >= birth.position
                and place == birth.location
                and (entry[0].name == birth.op)
            ):
                return entry
        return None

    def origins(self, entry: Entry) -> list[str]:
        """Names of the ops that made the inputs of an op, through a few ops."""
        found: list[str] = []
        todo = [(uid, 0) for uid in entry[1] if uid]
        while todo:
            uid, depth = todo.pop(0)
            maker = self.makers.get(abs(uid)) if type(uid) is int else None
            if maker is None or depth >= FAR:
                continue
            found.append(maker[0].name)
            if depth < 2 or maker[0].name in MOVES:
                todo += [(u, depth + 1) for u in maker[1] if u]
        return found

    def later_ops(self, entry: Entry) -> set[str]:
        """Names of all ops that depend on the result of an op."""
        return {user[0].name for uid in self.depends_on(entry) for user in self.users.get(uid, ())}

    def is_softmax(self, entry: Entry) -> bool:
        """Whether the result of an op is divided by, or is part of, a sum of such results."""
        near = [user for user in self.users_near(entry, 3) if user[0].name == "divide"]
        for divide in near:
            below = self.maker_through_moves(divide[1][1])
            if below is not None and below[0].name == "reduce_sum":
                summed = self.maker_through_moves(below[1][0])
                if summed is not None and summed[0].name == entry[0].name:
                    return True
        return False

    def users_near(self, entry: Entry, steps: int) -> list[Entry]:
        """The ops that use the result of an op, through a few ops."""
        found: list[Entry] = []
        for out in entry[2] if type(entry[2]) is tuple else (entry[2],):
            for user in self.users.get(abs(out), ()):
                found.append(user)
                if steps > 1:
                    found += self.users_near(user, steps - 1)
        return found

    def maker_through_moves(self, uid: int) -> Entry | None:
        """The op that computed a value, before reshapes, casts and the like."""
        maker = self.makers.get(abs(uid or 0))
        while maker is not None and maker[0].name in MOVES and maker[1][0]:
            maker = self.makers.get(abs(maker[1][0]))
        return maker

    def depends_on(self, entry: Entry) -> set[int]:
        """The uids of all values that depend on the result of an op."""
        found: set[int] = set()
        todo = list(entry[2]) if type(entry[2]) is tuple else [entry[2]]
        while todo:
            uid = abs(todo.pop())
            if uid not in found:
                found.add(uid)
                for user in self.users.get(uid, ()):
                    todo += user[2] if type(user[2]) is tuple else [user[2]]
        return found

    def is_norm(self, entry: Entry) -> bool:
        """Whether an op is the root of a norm, or a division by one: `tf.norm` made it."""
        if entry[0].name in ("divide", "reciprocal"):
            below = self.maker_through_moves(entry[1][1]) if len(entry[1]) > 1 else None
            return below is not None and below[0].name == "sqrt" and self.is_norm(below)
        maker = self.makers.get(abs(entry[1][0] or 0)) if entry[1] else None
        return (
            entry[0].name == "sqrt"
            and maker is not None
            and maker[0].name in ("reduce_sum", "squeeze", "identity")
            and (maker[3], maker[4]) == (entry[3], entry[4])
            and self.is_library_expression(entry)
        )

    def is_library_expression(self, entry: Entry) -> bool:
        """Whether several ops ran at the place of an op, as inside `tf.norm`."""
        return self.counts.get((entry[3], entry[4]), 0) > 1
