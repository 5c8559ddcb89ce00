"""What the benchmark shows and keeps: tables in Markdown, and JSON."""

import json
import os
import platform
import time
from functools import partial
from pathlib import Path

from budgets import verdicts

TIME = [("ns", 1e-9), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0)]
SIZE = [("B", 1.0), ("KB", 1e3), ("MB", 1e6), ("GB", 1e9)]


def quantity(value, units):
    """Three digits and the unit that suits them."""
    unit, scale = next((u for u in units if value < 999.5 * u[1]), units[-1])
    return f"{value / scale:.3g} {unit}"


def multiple(value, base):
    return f"{value / base:.2f}"


def show(cell, text):
    """A figure as `text` writes it; a word as it is; a dash for nothing."""
    if cell is None:
        return "–"
    return text(cell) if isinstance(cell, float) else cell


def print_table(title, header, rows):
    table = [header, *rows]
    widths = [max(len(row[i]) for row in table) for i in range(len(header))]
    rule = ["-" * widths[0], *("-" * (w - 1) + ":" for w in widths[1:])]
    print(f"\n{title}\n")
    for row in [header, rule, *rows]:
        first, *others = zip(row, widths, strict=True)
        cells = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
        print(f"| {' | '.join(cells)} |")


def print_results(results, frameworks):
    """Figures of all frameworks, then each as a multiple of the first."""
    base, *others = frameworks
    figures, ratios = [], []
    for row, cells in results.items():
        text = partial(quantity, units=SIZE if row.startswith("tape memory") else TIME)
        figures.append([row, *(show(cells.get(name), text) for name in frameworks)])
        if isinstance(cells.get(base), float):
            text = partial(multiple, base=cells[base])
            ratios.append([row, *(show(cells.get(name), text) for name in others)])
    print_table("Best of all rounds", ["", *frameworks], figures)
    if others:
        print_table(f"As a multiple of {base} (above 1: {base} needs less)", ["", *others], ratios)


def print_budgets(results):
    rows = [
        [what, f"{ratio:.3g}", f"{limit:.3g}", "met" if met else "MISSED"]
        for what, ratio, limit, met in verdicts(results)
    ]
    if rows:
        print_table("Budgets of the design", ["", "ratio", "at most", ""], rows)


def machine(threads):
    """What a reader must know to compare figures."""
    model = platform.processor()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = names[0].split(":", 1)[1].strip() if names else model
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "threads": threads,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "load before": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
    }


def save_json(path, **content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    print(f"\nSaved: {path}")
