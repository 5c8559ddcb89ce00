"""Calls every public function with hostile arguments, and counts errors that look internal.

    python -m tests.fuzz.calls --runs 80000 --seed 1

A run takes a recorded valid call and replaces, drops or adds arguments, or it makes all arguments
up. Blocks of runs happen in forked processes with limits on time and memory, in a temporary
folder; an audit hook refuses other files, processes and connections. A run depends only on the
seed and its number, so that `--only NUMBER` repeats it.
"""

import argparse
import collections
import contextlib
import json
import os
import random
import re
import resource
import select
import signal
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
from tests.fuzz.call_seeds import load_targets
from tests.fuzz.call_values import make_hostile_value, make_plausible_value

BLOCK = 200  # runs in one process
SECONDS = 5  # for a call
GRACE = 10  # more seconds until the process is ended
MEMORY = 3 << 30
LASTING = re.compile(
    "config|enable|disable|set_|register|Register|no_gradient|verbosity"
)  # effects
REFUSED = "the fuzzer refuses this"


class OutOfTime(BaseException):
    """A call took too long."""


def make_call(target, rng):
    """The arguments of a run: a mutated valid call, or made up ones."""
    if target.calls and rng.random() < 0.75:
        args, kwargs = rng.choice(target.calls)
        return mutate(list(args), dict(kwargs), target.parameters, rng)
    make = make_hostile_value if rng.random() < 0.5 else None
    count = min(len(target.parameters), rng.choice([1, 1, 2, 2, 3, 4, 6]))
    values = [
        make(rng) if make and rng.random() < 0.8 else make_plausible_value(rng, name)
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
    """Look at a result as users do, so that lazy parts happen."""
    if isinstance(result, tf.data.Dataset):
        for _ in zip(range(3), result, strict=False):
            pass
    with contextlib.suppress(RecursionError, ValueError):  # Python does not print some arguments
        repr(result)


def run_one(target, rng):
    """Do one run; the outcome as a dict."""
    args, kwargs = make_call(target, rng)
    outcome = {"path": target.path}
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        consume(target.function(*args, **kwargs))
        outcome["kind"] = "result"
    except OutOfTime:
        outcome["kind"] = "slow"
    except Exception as error:
        signal.setitimer(signal.ITIMER_REAL, 0)
        outcome |= describe(error, target)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    if outcome["kind"] not in ("result", "error"):
        with contextlib.suppress(Exception):
            outcome["call"] = f"args={args!r:.300} kwargs={kwargs!r:.300}"
    return outcome


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


def stop_slow_call(signum, frame):
    """End a call that takes too long; again soon, if something caught the exception."""
    signal.setitimer(signal.ITIMER_REAL, 1)
    raise OutOfTime


def forbid(event, args):
    """Refuse what leaves the folder of the fuzzer."""
    if event == "open":
        path, mode, flags = args
        writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        if writes and not isinstance(path, int) and os.path.isabs(os.fsdecode(path)):
            inside = os.path.realpath(os.fsdecode(path)).startswith(os.getcwd())
            if not inside and path != os.devnull:
                raise PermissionError(REFUSED)
    elif event.startswith(("subprocess.", "socket.connect", "os.exec", "os.system", "os.fork")):
        raise PermissionError(REFUSED)


def run_block(targets, seed, numbers, pipe):
    """Do some runs in this process and write the outcomes to a pipe."""
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    os.setpgid(0, 0)
    signal.signal(signal.SIGALRM, stop_slow_call)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.addaudithook(forbid)
    tf.debugging.disable_traceback_filtering()
    warnings.simplefilter("ignore")
    with os.fdopen(pipe, "w", encoding="utf-8", errors="backslashreplace") as out:
        for number in numbers:
            rng = random.Random(f"{seed}:{number}")
            target = rng.choice(targets)
            out.write(json.dumps({"start": number, "path": target.path}) + "\n")
            out.flush()
            out.write(json.dumps(run_one(target, rng)) + "\n")
            out.flush()
            if LASTING.search(target.path):
                break


class Block:
    """A process that does some runs."""

    def __init__(self, targets, seed, numbers):
        self.numbers = numbers
        read, write = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            os.close(read)
            status = 1
            try:
                run_block(targets, seed, numbers, write)
                status = 0
            finally:
                os._exit(status)
        os.close(write)
        self.lines = os.fdopen(read, "rb", buffering=0)

    def outcomes(self):
        """Yield the number and the outcome of each run; the last may be missing."""
        kept, started = b"", None
        while True:
            ready, _, _ = select.select([self.lines], [], [], SECONDS + GRACE)
            part = self.lines.read(1 << 16) if ready else None
            if part is None:
                os.kill(self.process, signal.SIGKILL)
                yield self.end(started, "hangs")
                return
            *whole, kept = (kept + part).split(b"\n")
            for line in map(json.loads, whole):
                if "start" in line:
                    started = line
                else:
                    yield started["start"], line
                    started = None
            if not part:
                if started is not None or not os.WIFEXITED(os.waitpid(self.process, 0)[1]):
                    yield self.end(started, "crash")
                return

    def end(self, started, kind):
        """The outcome of a run that ended the process."""
        self.lines.close()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.process, 0)
        return started["start"], {"kind": kind, "path": started["path"]}


def run_all(targets, seed, numbers):
    """Yield the number and the outcome of all runs."""
    left = collections.deque(numbers)
    while left:
        numbers = [left.popleft() for _ in range(min(BLOCK, len(left)))]
        done = 0
        for number, outcome in Block(targets, seed, numbers).outcomes():
            done = numbers.index(number) + 1
            yield number, outcome
        left.extendleft(reversed(numbers[done:]))
        if not done:
            raise RuntimeError("a process of the fuzzer did not start")


def print_report(outcomes, shown, rough, out):
    """Print the counts, and the bad outcomes by place, most frequent first."""
    kinds = collections.Counter(o["kind"] for _, o in outcomes)
    bad = [(n, o) for n, o in outcomes if o["kind"] in BAD]
    groups = collections.defaultdict(list)
    for number, outcome in [(n, o) for n, o in outcomes if o.get("raw")] if rough else bad:
        key = (outcome["kind"], outcome.get("class"), outcome.get("place") or outcome["path"])
        groups[key].append((number, outcome))
    for key, members in sorted(groups.items(), key=lambda item: -len(item[1]))[:shown]:
        number, first = members[0]
        print(f"{len(members):6}  {' '.join(map(str, key))}", file=out)
        paths = collections.Counter(o["path"] for _, o in members).most_common(4)
        print(f"        {', '.join(f'{p} {n}' for p, n in paths)}", file=out)
        print(
            f"        {number}: {first.get('reason')} {first.get('message', '')!r:.200}", file=out
        )
    reasons = collections.Counter(o.get("reason") for _, o in bad)
    print(", ".join(f"{n} by {reason}" for reason, n in reasons.most_common()), file=out)
    raw = sum(bool(o.get("raw")) for _, o in outcomes)
    print(", ".join(f"{n} {kind}" for kind, n in kinds.most_common()), file=out)
    print(f"{raw} errors were not raised by a check of gradtape", file=out)
    total = len(outcomes)
    print(f"{total} runs, {len(bad)} bad ({100 * len(bad) / max(total, 1):.3f} %)", file=out)
    return len(bad)


BAD = ("internal", "hangs", "crash", "slow")


def parse_arguments(argv):
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first run")
    parser.add_argument("--only", type=int, nargs="*", help="repeat these runs and show them whole")
    parser.add_argument("--paths", default="", help="only functions whose path contains this")
    parser.add_argument("--quick", action="store_true", help="fewer recorded calls")
    parser.add_argument("--shown", type=int, default=60, help="how many places to show")
    parser.add_argument("--rough", action="store_true", help="show errors that no check raised")
    parser.add_argument("--json", type=Path, help="write all outcomes to this file")
    return parser.parse_args(argv)


def main(argv=None, out=sys.stdout):
    """Run the fuzzer; the number of bad outcomes."""
    options = parse_arguments(argv)
    start, back = time.monotonic(), os.getcwd()
    report = options.json.resolve() if options.json else None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.chdir(folder)
        try:
            targets = [t for t in load_targets(not options.quick) if options.paths in t.path]
            numbers = options.only or range(options.first, options.first + options.runs)
            outcomes = list(run_all(targets, options.seed, numbers))
        finally:
            os.chdir(back)
    if report:
        report.write_text("".join(json.dumps({"n": n, **o}) + "\n" for n, o in outcomes))
    for number, outcome in outcomes if options.only else ():
        print(number, *(f"{k}: {v}" for k, v in outcome.items()), sep="\n  ", file=out)
    bad = print_report(outcomes, options.shown, options.rough, out)
    print(f"{len(targets)} functions, {time.monotonic() - start:.0f} s", file=out)
    return bad


if __name__ == "__main__":
    sys.exit(bool(main()))
