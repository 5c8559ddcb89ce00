"""The result of check_gradients."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class CheckedElement:
    """One element of a gradient.

    Attributes:
        order: 1 for the gradient, 2 for its derivative.
        source: the argument or variable, such as `x` or `dense/kernel`.
        index: the position in the source.
        by_tape: the value that the tape computes.
        by_difference: the value by central differences.
        error: their distance, relative to the largest value of this gradient.
    """

    order: int
    source: str
    index: tuple[int, ...]
    by_tape: complex
    by_difference: complex
    error: float

    def __str__(self) -> str:
        """Name the element and both values."""
        at = f"[{', '.join(map(str, self.index))}]" if self.index else ""
        what = "gradient" if self.order == 1 else "second derivative"
        return (
            f"{what} of {self.source}{at}: {self.by_tape:.6g} by the tape, "
            f"{self.by_difference:.6g} by differences (relative error {self.error:.1e})"
        )


@dataclass
class GradientCheck:
    """The result of `check_gradients`; it is true if all gradients are right.

    Attributes:
        passed: whether every error is within the tolerance.
        worst: the element with the largest error, or None if nothing was compared.
        wrong: the elements whose error exceeds the tolerance, worst first.
        compared: the number of elements that were compared.
        skipped: the number of elements where the function has a kink or a jump.
    """

    passed: bool = True
    worst: CheckedElement | None = None
    wrong: list[CheckedElement] = field(default_factory=list)
    compared: int = 0
    skipped: int = 0

    def __bool__(self) -> bool:
        """Whether all gradients are right."""
        return self.passed

    def __str__(self) -> str:
        """The verdict, and the worst element."""
        head = "Gradients are right" if self.passed else f"{len(self.wrong)} elements are wrong"
        lines = [f"{head}: {self.compared} elements compared, {self.skipped} skipped at kinks."]
        if self.worst is not None:
            lines.append(f"Worst {self.worst}.")
        return "\n".join(lines)

    __repr__ = __str__

    def add(self, element: CheckedElement, tolerance: float) -> None:
        """Add one comparison.

        Args:
            element: the comparison of one element.
            tolerance: the largest error that passes.

        Returns:
            None.
        """
        self.compared += 1
        if self.worst is None or not element.error <= self.worst.error:
            self.worst = element
        if not element.error <= tolerance:
            self.passed = False
            self.wrong.append(element)
