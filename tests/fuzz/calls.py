"""Calls every public function with hostile arguments, and counts errors that look internal.

    python -m tests.fuzz.calls --runs 80000 --seed 1

A run takes a recorded valid call and replaces, drops or adds arguments, or it makes all arguments
up. It happens in a process with limits, in a temporary folder. The runs take the functions in turn;
the arguments depend only on the seed, the function, and how often it was its turn. `--only NUMBER`
repeats a run and shows everything about it.
"""

import argparse
import collections
import contextlib
import json
import os
import random
import re
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).parents[2]))

import gradtape as tf
from tests.fuzz.call_judge import judge, place_of
from tests.fuzz.call_process import REFUSED, OutOfTime, limit_time, run_all
from tests.fuzz.call_seeds import load_targets
from tests.fuzz.call_values import make_hostile_value, make_plausible_value

BAD = ("internal", "slow", "hangs", "crash")
# Functions with an effect on later calls: their process ends after the call.
LASTING = re.compile("config|enable|disable|set_|register|Register|no_gradient|verbosity")


def make_call(target, rng):
    """The arguments of a run: a mutated valid call, or made up ones."""
    if target.calls and rng.random() < 0.75:
        args, kwargs = rng.choice(target.calls)
        return mutate(list(args), dict(kwargs), target.parameters, rng)
    hostile = rng.random() < 0.5
    count = min(len(target.parameters), rng.choice([1, 1, 2, 2, 3, 4, 6]))
    values = [
        make_hostile_value(rng)
        if hostile and rng.random() < 0.8
        else make_plausible_value(rng, name)
        for name in target.parameters[:count]
    ]
    return mutate(values, {}, target.parameters, rng)


def mutate(args, kwargs, parameters, rng):
    """Replace one argument or two by hostile values; sometimes drop or add one."""
    for _ in range(rng.choice([1, 1, 1, 2])):
        places = [*range(len(args)), *kwargs]
        chance = rng.random()
        if chance < 0.8 and places:
            place = rng.choice(places)
            (kwargs if place in kwargs else args)[place] = make_hostile_value(rng)
        elif chance < 0.84 and args:
            args.pop()
        elif chance < 0.98 and len(parameters) > len(args):
            kwargs[rng.choice(parameters[len(args) :])] = make_hostile_value(rng)
        else:
            kwargs["no_such_parameter"] = None
    return args, kwargs


def consume(result):
    """Look at a result as users do, so that its lazy parts happen."""
    if isinstance(result, tf.data.Dataset):
        for _ in zip(range(3), result, strict=False):
            pass
    with contextlib.suppress(RecursionError, ValueError):  # Python does not print some arguments
        repr(result)


def run_one(targets, seed, number):
    """Do one run; yield the line that announces it, then its outcome."""
    turn, place = divmod(number, len(targets))
    target = targets[place]
    rng = random.Random(f"{seed}:{turn}:{target.path}")
    yield {"start": number, "path": target.path}
    tf.debugging.disable_traceback_filtering()
    warnings.simplefilter("ignore")
    outcome = {"path": target.path, "lasting": bool(LASTING.search(target.path))}
    args, kwargs = make_call(target, rng)
    try:
        with limit_time():
            consume(target.function(*args, **kwargs))
        outcome["kind"] = "result"
    except OutOfTime:
        outcome["kind"] = "slow"
    except Exception as error:
        outcome |= describe(error, target)
    if outcome["kind"] in BAD:
        with contextlib.suppress(Exception):
            outcome["call"] = f"args={args!r:.300} kwargs={kwargs!r:.300}"
    yield outcome


def describe(error, target):
    """The outcome of a run that raised."""
    if REFUSED in str(error):
        return {"kind": "refused"}
    reason = judge(error, target.path, target.parameters)
    found = {
        "kind": "error" if reason is None else "internal",
        "reason": reason,
        "class": type(error).__name__,
        "message": str(error)[:300],
        "place": place_of(error),
        "raw": not getattr(error, "_origin", (None, True))[1],
    }
    if reason is not None:
        found["trace"] = "".join(traceback.format_exception(error))[-3000:]
    return found


def print_places(outcomes, shown, out):
    """Print outcomes by the place in gradtape where they come from, most frequent first."""
    groups = collections.defaultdict(list)
    for number, outcome in outcomes:
        key = (outcome["kind"], outcome.get("class"), outcome.get("place") or outcome["path"])
        groups[key].append((number, outcome))
    for key, members in sorted(groups.items(), key=lambda item: -len(item[1]))[:shown]:
        number, first = members[0]
        paths = collections.Counter(outcome["path"] for _, outcome in members).most_common(4)
        print(f"{len(members):6}  {' '.join(map(str, key))}", file=out)
        print(f"        {', '.join(f'{path} {count}' for path, count in paths)}", file=out)
        reason, message = first.get("reason"), first.get("message", "")
        print(f"        {number}: {reason} {message!r:.200}", file=out)


def print_counts(outcomes, bad, raw, out):
    """Print how many runs ended how."""
    kinds = collections.Counter(outcome["kind"] for _, outcome in outcomes)
    reasons = collections.Counter(outcome.get("reason") or outcome["kind"] for _, outcome in bad)
    total = max(len(outcomes), 1)
    print(", ".join(f"{count} {kind}" for kind, count in kinds.most_common()), file=out)
    print(f"{len(raw)} errors were not raised by a check of gradtape", file=out)
    listed = "".join(f", {count} by {reason}" for reason, count in reasons.most_common())
    print(f"{total} runs, {len(bad)} bad ({100 * len(bad) / total:.3f} %){listed}", file=out)


def parse_arguments(argv):
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first run")
    parser.add_argument("--only", type=int, nargs="*", help="repeat these runs")
    parser.add_argument("--paths", default="", help="only functions whose path contains this")
    parser.add_argument("--quick", action="store_true", help="record fewer valid calls")
    parser.add_argument("--shown", type=int, default=40, help="how many places to show")
    parser.add_argument("--raw", action="store_true", help="show errors that no check raised")
    parser.add_argument("--json", type=Path, help="write all outcomes to this file")
    return parser.parse_args(argv)


@contextlib.contextmanager
def temporary_folder():
    """Work in a temporary folder, which also has the temporary files of the calls."""
    back = os.getcwd()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.chdir(folder)
        tempfile.tempdir = folder
        try:
            yield
        finally:
            os.chdir(back)
            tempfile.tempdir = None


def main(argv=None, out=None):
    """Run the fuzzer; return 1 if something was bad, else 0."""
    options, out, start = parse_arguments(argv), out or sys.stdout, time.monotonic()
    report = options.json.resolve() if options.json else None
    numbers = options.only or range(options.first, options.first + options.runs)
    with temporary_folder():
        targets = [t for t in load_targets(options.quick) if options.paths in t.path]
        outcomes = list(run_all(lambda n: run_one(targets, options.seed, n), numbers))
    if report:
        report.write_text("".join(json.dumps({"n": n, **o}) + "\n" for n, o in outcomes))
    for number, outcome in outcomes if options.only else ():
        print(number, *(f"{k}: {v}" for k, v in outcome.items()), sep="\n  ", file=out)
    bad = [(n, o) for n, o in outcomes if o["kind"] in BAD]
    raw = [(n, o) for n, o in outcomes if o.get("raw")]
    print_places(raw if options.raw else bad, options.shown, out)
    print_counts(outcomes, bad, raw, out)
    print(f"{len(targets)} functions, {time.monotonic() - start:.0f} s", file=out)
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
