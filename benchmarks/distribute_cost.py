"""Cost model of data-parallel training: which part of a step is computation, for n hosts.

    python benchmarks/distribute_cost.py [--megabytes 100] [--compute 0.5] [--bandwidth 1.2e9]

prints the table of docs/distribute.md. The model has no overlap of computation and communication.
"""

import argparse
import math

HOSTS = (2, 8, 64, 256, 1024)


def ring_seconds(n, size, bandwidth, hop):
    """Ring all-reduce: every byte goes round twice, in 2 (n - 1) hops."""
    return 2 * (n - 1) / n * size / bandwidth + 2 * (n - 1) * hop


def gather_seconds(n, hop):
    """A small array that every worker sends around the ring, in n - 1 hops."""
    return (n - 1) * hop


def hierarchical_seconds(n, size, bandwidth, hop):
    """Rings of about sqrt(n) hosts: scatter in the row, reduce in the column, gather in the row."""
    row = 2 ** round(math.log2(n) / 2)
    column = n // row
    within = (row - 1) / row * size / bandwidth + (row - 1) * hop
    return 2 * within + ring_seconds(column, size / row, bandwidth, hop)


def make_rows(size=100e6, compute=0.5, bandwidth=1.2e9, hop=1e-4):
    """The efficiency of each variant, in percent, by the number of hosts."""

    def efficiency(seconds):
        return round(100 * compute / (compute + seconds))

    for n in HOSTS:
        ring = ring_seconds(n, size, bandwidth, hop)
        yield (
            n,
            efficiency(ring),
            efficiency(ring + 2 * gather_seconds(n, hop)),
            efficiency(hierarchical_seconds(n, size, bandwidth, hop)),
            efficiency(ring_seconds(n, size / 2, bandwidth, hop)),
        )


def make_table(rows):
    """The rows in Markdown."""
    head = "| hosts | ring, % | and two scalars apart, % | hierarchical, % | ring in bfloat16, % |"
    lines = [" | ".join(map(str, row)) for row in rows]
    return "\n".join([head, "|---|---|---|---|---|", *[f"| {line} |" for line in lines]])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=float, default=100, help="gradients of a step")
    parser.add_argument("--compute", type=float, default=0.5, help="seconds of computation")
    parser.add_argument("--bandwidth", type=float, default=1.2e9, help="bytes per second of a host")
    parser.add_argument("--hop", type=float, default=1e-4, help="seconds of latency of a message")
    given = parser.parse_args()
    print(make_table(make_rows(given.megabytes * 1e6, given.compute, given.bandwidth, given.hop)))
