"""Run a program with every size open: in all functions, all sizes of tensor arguments are unknown.

python tests/open_sizes.py tests/conformance/ops/run.py --module gradtape --function
python tests/open_sizes.py tests/conformance/tape/run.py --module gradtape --needs core,function
"""

from __future__ import annotations

import runpy
import sys

import gradtape.jit.function
from gradtape.core.shapes import TensorShape
from gradtape.jit.open_signature import OpenSignature, OpenTraces, shapes_of
from gradtape.jit.signature import Call


class EverySizeOpen(OpenSignature):
    """The open signature of a function all of whose sizes are unknown."""

    def find(self, call: Call) -> OpenTraces | None:
        """The traces for all calls of the same dtypes, ranks and Python values."""
        own = shapes_of(call)
        if own is None:
            return None
        shapes = [TensorShape([None] * len(shape)) for shape in own]
        return self.traces_for(call, shapes, hides_dense_shapes=True)


def open_all_sizes() -> None:
    """Give every function that is made from now on unknown sizes."""
    gradtape.jit.function.make_open_signature = (  # type: ignore[attr-defined]
        lambda *_: EverySizeOpen(None, reduces_retracing=False)
    )


if __name__ == "__main__":
    open_all_sizes()
    sys.argv = sys.argv[1:]
    sys.path[0] = sys.argv[0].rpartition("/")[0]
    runpy.run_path(sys.argv[0], run_name="__main__")
