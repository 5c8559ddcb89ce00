"""VariableVersions: the versions of variables in a trace, which the caller commits at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from gradtape.core.ledger import ledger, write
from gradtape.core.symbolic_tensor import SymbolicTensor
from gradtape.state.variable.argument import VariableArgument


class VariableState:
    """A variable in a trace: its version before the call, and its newest version."""

    __slots__ = ("initial", "is_written", "newest", "stored", "variable")

    def __init__(self, variable: Any, first: SymbolicTensor, stored: Any) -> None:
        """`first` stands for the version before the call, which is `stored`."""
        self.variable = variable
        self.stored = stored
        self.initial = first
        self.newest: SymbolicTensor = first
        self.is_written = False

    def write(self, version: SymbolicTensor) -> None:
        """Make `version` the newest version."""
        self.newest = version
        self.is_written = True


Saved = dict[int, tuple[SymbolicTensor, bool]]  # newest version and `is_written`, by key


class VariableVersions:
    """The variables that a trace reads or writes.

    Attributes:
        states: the variables by key, in the order of their first use.
        created: variables that the function has created.
        created_at: the user's line that created the first of them.
        captured_arguments: keys of the variable arguments that the function has captured, too.
    """

    def __init__(self) -> None:
        """Know no variable."""
        self.states: dict[int, VariableState] = {}
        self.created: list[Any] = []
        self.created_at = ""
        self.captured_arguments: set[int] = set()
        self._argument_keys: frozenset[int] = frozenset()

    def set_arguments(self, keys: Iterable[int]) -> None:
        """Note the keys of the variables among the function's arguments."""
        self._argument_keys = frozenset(keys)

    def state_of(self, variable: Any, make_value: Callable[[Any], SymbolicTensor]) -> VariableState:
        """The state of a variable; `make_value` makes its first version from a raw array."""
        if type(variable) is VariableArgument:
            variable = variable._variable
        elif variable._key in self._argument_keys:
            self.captured_arguments.add(variable._key)
        state = self.states.get(variable._key)
        if state is None:
            stored = variable._stored_version()
            state = VariableState(variable, make_value(stored._array), stored)
            self.states[variable._key] = state
            if ledger.active:
                write(("version", variable._key), (stored.uid,), state.initial.uid)
        return state

    def newest(self, key: int) -> SymbolicTensor:
        """The newest version of the variable with this key."""
        return self.states[key].newest

    def variable(self, key: int) -> Any:
        """The variable with this key."""
        return self.states[key].variable

    def initial_numbers(self) -> list[int]:
        """Numbers of the versions before the call, in the order of `states`."""
        return [state.initial._array.number for state in self.states.values()]

    def stored_versions(self) -> list[Any]:
        """The tensors that the variables held before the call, in the order of `states`."""
        return [state.stored for state in self.states.values()]

    def save(self) -> Saved:
        """The newest versions, for `restore`."""
        return {key: (state.newest, state.is_written) for key, state in self.states.items()}

    def replace(self, versions: Mapping[int, SymbolicTensor]) -> None:
        """Give other newest versions to some variables, by key."""
        for key, tensor in versions.items():
            self.states[key].newest = tensor

    def restore(self, saved: Saved, only_random: bool = False) -> None:
        """Go back to what `save` returned; with `only_random`, for counters of random ops alone."""
        for key, state in self.states.items():
            if not only_random or state.variable._is_random:
                state.newest, state.is_written = saved.get(key, (state.initial, False))

    def changed_since(self, saved: Mapping[int, Any]) -> dict[int, tuple[Any, SymbolicTensor]]:
        """Variables whose newest version differs from `saved`, with that version, by key."""
        return {
            key: (state.variable, state.newest)
            for key, state in self.states.items()
            if state.newest is not saved.get(key, state.initial)
        }

    def clear(self) -> None:
        """Release all versions."""
        self.states.clear()
        self.created = []
