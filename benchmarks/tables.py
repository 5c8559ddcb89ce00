"""Formats the figures of a run as text: quantities, ratios, and Markdown tables."""

import math
from functools import partial

TIME = [("ns", 1e-9), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0)]
SIZE = [("B", 1.0), ("KB", 1e3), ("MB", 1e6), ("GB", 1e9)]
UNITS = {"seconds": TIME, "bytes": SIZE}

SUBJECT = "gradtape"
# Columns that are not peers: no framework, not compiled, or gradtape itself.
REFERENCES = {"numpy", "torch_eager", "gradtape_xla"}


def format_quantity(value, units):
    """Format a value with three digits and a suitable unit."""
    unit, scale = next((u for u in units if value < 999.5 * u[1]), units[-1])
    return f"{value / scale:.3g} {unit}"


def format_ratio(value, base):
    return f"{value / base:.2f}"


def format_cell(cell, text):
    """Format a number with `text`; words are unchanged, None is a dash."""
    if cell is None:
        return "–"
    return text(cell) if isinstance(cell, float) else cell


def format_table(header, rows):
    """The lines of a Markdown table with aligned columns."""
    table = [header, *rows]
    widths = [max(len(row[i]) for row in table) for i in range(len(header))]
    rule = ["-" * widths[0], *("-" * (w - 1) + ":" for w in widths[1:])]
    lines = []
    for row in [header, rule, *rows]:
        first, *others = zip(row, widths, strict=True)
        cells = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def columns_with_results(record, *, but=()):
    """The columns of a run that have results."""
    seen = {name for cells in record["results"].values() for name in cells}
    return [name for name in record["columns"] if name in seen and name not in but]


def make_figures_table(record, groups):
    """Header and rows of the results of every column, for the rows of `groups`."""
    columns, rows = columns_with_results(record), []
    for row, cells in record["results"].items():
        about = record["rows"][row]
        if about["group"] in groups:
            text = partial(format_quantity, units=UNITS[about["unit"]])
            rows.append([row, *(format_cell(cells.get(name), text) for name in columns)])
    return ["", *columns], rows


def make_ratio_table(record):
    """Header and rows of the other columns as multiples of gradtape's."""
    columns, rows = columns_with_results(record, but=[SUBJECT]), []
    for row, cells in record["results"].items():
        if isinstance(cells.get(SUBJECT), float):
            text = partial(format_ratio, base=cells[SUBJECT])
            rows.append([row, *(format_cell(cells.get(name), text) for name in columns)])
    return ["", *columns], rows


def make_calls_table(record, which):
    """Header and rows of the times of the first call (0) or the second (1)."""
    columns = [name for name in columns_with_results(record) if name not in REFERENCES]
    rows = []
    for row, cells in record["calls"].items():
        pairs = (cells.get(name) for name in columns)
        text = partial(format_quantity, units=TIME)
        rows.append([row, *(format_cell(pair and pair[which], text) for pair in pairs)])
    return ["", *columns], rows


def find_best_peer(cells):
    """The fastest framework other than gradtape, or None."""
    peers = {
        name: value
        for name, value in cells.items()
        if name != SUBJECT and name not in REFERENCES and isinstance(value, float)
    }
    return min(peers, key=peers.get, default=None)


WORKLOADS = ("step", "layer")


def compare_with_best(record, groups=WORKLOADS):
    """(row, gradtape, best peer, its name, ratio) of the rows that have both."""
    for row, cells in record["results"].items():
        best = find_best_peer(cells)
        mine = cells.get(SUBJECT)
        if record["rows"][row]["group"] in groups and best and isinstance(mine, float):
            yield row, mine, cells[best], best, mine / cells[best]


def geometric_mean(ratios):
    ratios = list(ratios)
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def geometric_means(record):
    """Geometric means over the workloads: against the best peer of each, and by column."""
    means = []
    for what, groups in [("workload", WORKLOADS), ("step", ("step",)), ("layer alone", ("layer",))]:
        ratios = [ratio for *_, ratio in compare_with_best(record, groups)]
        means.append((f"the best peer of each {what} ({len(ratios)})", geometric_mean(ratios)))
    for name in columns_with_results(record, but=[SUBJECT]):
        pairs = [
            (cells[SUBJECT], cells[name])
            for row, cells in record["results"].items()
            if record["rows"][row]["group"] in WORKLOADS
            and isinstance(cells.get(SUBJECT), float)
            and isinstance(cells.get(name), float)
        ]
        means.append((f"{name} ({len(pairs)} workloads)", geometric_mean(a / b for a, b in pairs)))
    return [(name, value) for name, value in means if value is not None]
