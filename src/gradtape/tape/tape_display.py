"""Methods that show what a tape has recorded; TensorFlow's tapes do not have them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from gradtape.core.ports import DisplayPort, make_html


class DisplayMethods:
    """What a tape holds, as a table, in numbers and as a picture."""

    def summary(self) -> Any:
        """The recorded ops with shapes, saved bytes and their share; printing it shows a table.

        Lines are known if the tape recorded inside `gradtape.debug.record_lines()`.

        Returns:
            A TapeSummary, which prints as a table.
        """
        import_module(DisplayPort.supplier)
        return DisplayPort.summarize(self)

    def memory(self) -> Any:
        """The memory that the tape keeps alive: in total, by op, by line and by name scope.

        Returns:
            A TapeMemory, which prints as a table.
        """
        import_module(DisplayPort.supplier)
        return DisplayPort.measure(self)

    def draw(self, path: Any = None) -> str:
        """Draw the recorded ops as SVG, into a file if `path` is given; see `debug.draw`.

        Args:
            path: a file to write, or None.

        Returns:
            The drawing as SVG text, also shown by notebooks.
        """
        import_module(DisplayPort.supplier)
        return DisplayPort.draw(self, path)

    _repr_html_ = make_html
