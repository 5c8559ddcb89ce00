"""Write docs/benchmarks.md: tables and plots of the results that `run.py` saved.

    python benchmarks/report.py [FILE …] [--page docs/benchmarks.md]

Without files it reads all of benchmarks/results. It draws plots if matplotlib is installed. The
summary and the reasons for missed budgets come from `notes.md`, which is written by hand after a
run and names the date of that run.
"""

import argparse
import json
import re
from pathlib import Path

from budgets import check_budgets
from tables import (
    TIME,
    compare_with_best,
    format_quantity,
    format_table,
    geometric_means,
    make_calls_table,
    make_figures_table,
)

HERE = Path(__file__).parent
RESULTS = HERE / "results"
NOTES = HERE / "notes.md"
PAGE = HERE.parent / "docs" / "benchmarks.md"

INTRODUCTION = """\
# Benchmarks

`make bench-page` measures all workloads and writes this page (`benchmarks/run.py` and
`benchmarks/report.py`). Each framework runs in its own process and in its own best idiom. The
benchmark first checks that all frameworks compute equal results in the first and the third call.
Then it measures them in turns; the best round counts. A ratio below 1 means that gradtape needs
less time or memory. The best peer is the fastest of the other frameworks in that row. NumPy
differentiated by hand is a reference, not a peer. So is eager PyTorch where compilers are
compared."""

MODES = {
    "eager": "Op by op: TensorFlow and PyTorch in eager mode, JAX without `jit`.",
    "compiled": """\
Whole steps: `gradtape` and `tensorflow` are `tf.function`, `gradtape_xla` and `tensorflow_xla` are
`tf.function(jit_compile=True)`, `torch` is `torch.compile`, `jax` is `jax.jit`. `torch_eager` and
`numpy` are not compiled. JAX is installed, so `gradtape` runs large elementwise graphs on XLA, and
graphs of many small ops after some hundred calls.""",
}


def section_title(record):
    threads = record["machine"]["threads"]
    cores = "one core" if threads == 1 else f"{threads} cores"
    return f"{record['mode'].capitalize()}, {cores}"


def describe_run(record):
    """Lines about the machine, the date, the load and the versions."""
    about = record["machine"]
    versions = {k: v for found in record["versions"].values() for k, v in found.items()}
    lines = [
        f"- {about['cpu']}, {about['cores']} cores, {about['threads']} used; {about['system']}; "
        f"Python {about['python']}",
        f"- {about['date']}; load {about['load before']} before, {about['load after']} after; best "
        f"of {about['rounds']} rounds of {format_quantity(about['seconds'], TIME)}, "
        f"{about['clock']} time",
        "- " + ", ".join(f"{name} {version}" for name, version in sorted(versions.items())),
    ]
    lines += [f"- left out: {name} ({why})" for name, why in record["left_out"].items()]
    return lines


def read_notes(records):
    """The hand-written summary, with a remark if it describes another run than `records`."""
    date, _, text = NOTES.read_text(encoding="utf-8").partition("\n")
    date = date.removeprefix("Run: ")
    if {record["machine"]["date"] for record in records} != {date}:
        text = re.sub(r"^(## .*)$", rf"\1 (run of {date})", text, flags=re.MULTILINE)
    return text.strip()


def list_workloads(records):
    """What each row of the tables measures."""
    rows = {row: about["about"] for record in records for row, about in record["rows"].items()}
    lines = [f"| {row} | {about} |" for row, about in rows.items()]
    return ["## Workloads", "", "| row | workload |", "|---|---|", *lines]


def list_complaints(record):
    first_lines = [text.splitlines()[0] for text in record["complaints"]]
    return ["", "Not in the tables:", "", *(f"- {line[:200]}" for line in first_lines)]


def make_section(record, plot):
    """Make the section of the page for one run."""
    lines = [f"## {section_title(record)}", "", MODES[record["mode"]], "", *describe_run(record)]
    ranked = [
        [row, format_quantity(mine, TIME), format_quantity(best, TIME), name, f"{ratio:.2f}"]
        for row, mine, best, name, ratio in compare_with_best(record)
    ]
    if ranked:
        header = ["against the best peer", "gradtape", "best peer", "which", "ratio"]
        lines += ["", *format_table(header, ranked)]
    average = [[name, f"{value:.2f}"] for name, value in geometric_means(record)]
    if average:
        lines += ["", *format_table(["geometric mean of gradtape against", "ratio"], average)]
    if plot:
        lines += ["", f"![gradtape against the best peer]({plot})"]
    for name, groups in [
        ("Times", ("op", "step", "layer")),
        ("Start, memory and size", ("start", "memory")),
    ]:
        header, rows = make_figures_table(record, groups)
        if rows:
            lines += [
                "",
                f"### {name}: {section_title(record).lower()}",
                "",
                *format_table(header, rows),
            ]
    if record["mode"] == "compiled":
        for which, name in enumerate(["First call, with tracing and compiling", "Second call"]):
            header, rows = make_calls_table(record, which)
            lines += [
                "",
                f"### {name}: {section_title(record).lower()}",
                "",
                *format_table(header, rows),
            ]
    budgets = [
        [what, f"{ratio:.2f}", f"{limit:.2f}", "met" if met else "missed"]
        for what, ratio, limit, met in check_budgets(record)
    ]
    if budgets:
        header = ["budgets of the design", "ratio", "at most", ""]
        lines += ["", *format_table(header, budgets)]
    return [*lines, *(list_complaints(record) if record["complaints"] else [])]


def plot_ratios(record, folder):
    """Plot the ratios to the best peer; return the file, or None without matplotlib."""
    try:
        import matplotlib
    except ImportError:
        return None
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "gradtape"  # the same figures give the same file
    from matplotlib import pyplot

    rows = list(compare_with_best(record))[::-1]
    if not rows:
        return None
    figure, axes = pyplot.subplots(figsize=(8, 0.28 * len(rows) + 1.2), layout="constrained")
    ratios = [ratio for *_, ratio in rows]
    colours = ["tab:green" if ratio <= 1 else "tab:orange" for ratio in ratios]
    axes.barh(range(len(rows)), [r - 1 for r in ratios], left=1, color=colours)
    axes.set_yticks(range(len(rows)), [f"{row} ({best})" for row, _, _, best, _ in rows])
    axes.set_xscale("log")
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xlabel("time of gradtape / time of the best peer")
    axes.set_title(section_title(record))
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{record['mode']}-{record['machine']['threads']}.svg"
    figure.savefig(file, metadata={"Date": None})
    pyplot.close(figure)
    return file


def make_page(records, path):
    lines = [INTRODUCTION, "", read_notes(records), "", *list_workloads(records)]
    for record in records:
        plot = plot_ratios(record, path.parent / path.stem)
        relative = plot.relative_to(path.parent).as_posix() if plot else None
        lines += ["", *make_section(record, relative)]
    return "\n".join(lines) + "\n"


def page_order(record):
    return record["mode"] != "eager", record["machine"]["threads"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--page", type=Path, default=PAGE)
    args = parser.parse_args()
    files = args.files or sorted(RESULTS.glob("*.json"))
    if not files:
        parser.error("there are no results yet: run benchmarks/run.py first")
    records = sorted((json.loads(file.read_text()) for file in files), key=page_order)
    args.page.parent.mkdir(parents=True, exist_ok=True)
    args.page.write_text(make_page(records, args.page))
    print(f"Written: {args.page}")


if __name__ == "__main__":
    main()
