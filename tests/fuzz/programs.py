"""Random programs compute the same eagerly and as a `tf.function`.

    python -m tests.fuzz.programs --runs 1000 --seed 1 [--engine numpy|xla] [--with FEATURES]

Values, dtypes, shapes, gradients of first and second order, `None`, classes of errors and final
values of variables are compared for three calls. A program that differs is shrunk and printed. The
last line is `N programs, M differ, K differ by rounding`; the exit code is 1 if any differs.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
import traceback
from collections.abc import Iterator
from typing import TextIO

import gradtape
from tests.fuzz.comparison import Difference, find_differences
from tests.fuzz.generator.features import OFF, ON
from tests.fuzz.generator.program import draw_program
from tests.fuzz.generator.source import Program
from tests.fuzz.shrink import shrink


def parse_arguments(argv: list[str] | None) -> argparse.Namespace:
    """Options of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000, help="number of programs")
    parser.add_argument("--seed", type=int, default=0, help="seed of all programs")
    parser.add_argument("--start", type=int, default=0, help="number of the first program")
    parser.add_argument("--engine", choices=["numpy", "xla"], default="numpy")
    parser.add_argument("--with", dest="features", default="", help=f"any of {', '.join(OFF)}")
    parser.add_argument("--show", action="store_true", help="print each program")
    parser.add_argument(
        "--unstable", action="store_true", help="print those that differ by rounding"
    )
    return parser.parse_args(argv)


def list_features(text: str) -> frozenset[str]:
    """Features that are on by default, and those named."""
    named = frozenset(name for name in text.split(",") if name)
    if "all" in named:
        return frozenset([*ON, *OFF])
    return named | frozenset(ON)


def explain(
    program: Program, found: list[Difference], engine: str, features: frozenset[str]
) -> Iterator[str]:
    """A shrunk program as source, with what differs."""
    category = found[0].category

    def fails(candidate: Program) -> bool:
        try:
            differences, unstable = find_differences(candidate, engine, features)
        except Exception:
            return False
        return not unstable and any(d.category == category for d in differences)

    small = shrink(program, fails)
    differences, _ = find_differences(small, engine, features)
    yield f"order {small.order}"
    yield small.render()
    yield from (f"# {difference}" for difference in differences[:4])


def main(argv: list[str] | None = None, out: TextIO = sys.stdout) -> int:
    """Run random programs; 1 if one differs."""
    options = parse_arguments(argv)
    features = list_features(options.features)
    gradtape.engine.use(options.engine)
    differing = unstable = 0
    start = time.monotonic()
    for index in range(options.start, options.start + options.runs):
        try:
            program = draw_program(options.seed, index, features)
        except Exception:
            differing += 1
            out.write(f"# program {options.seed}/{index} differs: it cannot be drawn\n")
            out.write(traceback.format_exc(limit=-20) + "\n")
            continue
        if options.show:
            out.write(f"# program {options.seed}/{index}\n{program.render()}\n")
        found, is_rounding = find_differences(program, options.engine, features)
        if is_rounding:
            unstable += 1
            if options.unstable:
                out.write(f"# rounding {options.seed}/{index}\n{program.render()}\n# {found[0]}\n")
        elif found:
            differing += 1
            out.write(f"# program {options.seed}/{index} differs: {found[0]}\n")
            out.write("\n".join(explain(program, found, options.engine, features)) + "\n\n")
            out.flush()
        if (index + 1 - options.start) % 1000 == 0:
            sys.stderr.write(f"{index + 1} programs, {differing} differ\n")
    took = time.monotonic() - start
    out.write(f"seed {options.seed}, engine {options.engine}, {took:.0f} s\n")
    out.write(f"{options.runs} programs, {differing} differ, {unstable} differ by rounding\n")
    return 1 if differing else 0


if __name__ == "__main__":
    logging.getLogger("gradtape").setLevel(logging.ERROR)
    sys.exit(main())
