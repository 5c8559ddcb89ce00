"""tf.train.ExponentialMovingAverage: averages of variables over the steps of training."""

from __future__ import annotations

from typing import Any

from gradtape.core.errors import public
from gradtape.core.tensor import Tensor
from gradtape.state.variable.variable import Variable
from gradtape.tf.math.cast import cast
from gradtape.tf.math.elementwise import minimum


class ExponentialMovingAverage:
    """Keeps an average of each variable, in which older values count less and less.

    Args:
        decay: the share of the old average that each update keeps.
        num_updates: the number of updates so far, or None; early averages then decay faster, by
            min(decay, (1 + num_updates) / (10 + num_updates)).
        zero_debias: has no effect on variables, whose average starts at their value.
        name: the suffix of the names of averages.

    Example:
        >>> v, average = tf.Variable(1.0), tf.train.ExponentialMovingAverage(0.9)
        >>> average.apply([v])
        >>> _ = v.assign(2.0)
        >>> average.apply([v])
        >>> average.average(v).numpy()
        np.float32(1.1)
    """

    @public
    def __init__(
        self,
        decay: Any,
        num_updates: Any = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:
        self._decay = decay
        self._num_updates = num_updates
        self._name = name
        self._averages: dict[int, tuple[Variable, Variable]] = {}

    @property
    def name(self) -> str:
        """The suffix of the names of averages."""
        return self._name

    @public
    def apply(self, var_list: Any = None) -> None:
        """Update the average of each variable; the first time, it is the variable's value.

        Args:
            var_list: variables of floats; all that are known already if it is None.

        Returns:
            None in eager mode.

        Raises:
            TypeError: for tensors, and for other dtypes.
        """
        known = [variable for variable, _ in self._averages.values()]
        for variable in known if var_list is None else var_list:
            self._check(variable)
            if id(variable) in self._averages:
                average = self._averages[id(variable)][1]
                value = variable.read_value()
                rate = cast(1.0 - self._current_decay(), average.dtype)
                average.assign_sub((average - value) * rate)
            else:
                average = Variable(
                    variable.read_value(), trainable=False, name=self.average_name(variable)
                )
                self._averages[id(variable)] = variable, average

    def _check(self, variable: Any) -> None:
        if not isinstance(variable, Variable):
            raise TypeError(
                "tf.train.ExponentialMovingAverage does not support non-Variable tensors when "
                f"eager execution is enabled. Received {type(variable).__name__}."
            )
        if not variable.dtype.is_floating:
            raise TypeError(f"The variables must be half, float, or double: {variable.name}")

    def _current_decay(self) -> Any:
        if self._num_updates is None:
            return self._decay
        count: Tensor = cast(self._num_updates, "float32")
        return minimum(self._decay, (1 + count) / (10 + count))

    @public
    def average(self, var: Any) -> Variable | None:
        """The variable that holds the average of `var`; None if `apply` has not met it.

        Args:
            var: a variable.

        Returns:
            A Variable or None.
        """
        found = self._averages.get(id(var))
        return None if found is None else found[1]

    @public
    def average_name(self, var: Any) -> str:
        """The name of the average of `var`.

        Args:
            var: a variable.

        Returns:
            A string.
        """
        return f"{var.name.split(':')[0]}/{self._name}"

    @public
    def variables_to_restore(self, moving_avg_variables: Any = None) -> dict[str, Any]:
        """The variables by the names under which their averages are saved.

        Args:
            moving_avg_variables: a list of variables, or None for all trainable ones.

        Returns:
            A dict.
        """
        chosen = moving_avg_variables
        if chosen is None:
            chosen = [variable for variable, _ in self._averages.values()]
        return {self.average_name(variable): variable for variable in chosen}
