"""The budgets of the design: the most gradtape may need, as a fraction of what a peer needs."""

from tables import WORKLOADS, against_best, geometric_mean

FASTER = {"torch": 1, "jax": 1, "autograd": 1, "tensorflow": 1}

EAGER = {
    "import": {"numpy": 1.5},
    "op, recorded": {"torch": 1 / 3, "tensorflow": 1 / 20},
    "MLP tiny": FASTER,
    "MLP small": FASTER,
    "MLP medium": {**FASTER, "numpy": 1.3},
    "MLP wide": {"numpy": 1.3},
    "elementwise 10^6": {"torch": 1},
    "jacobian": {"tensorflow": 1, "torch": 1},
    "batch jacobian": {"tensorflow": 1, "torch": 1},
    "CNN": {"torch": 1, "tensorflow": 1},
    "convolution 3×3": {"torch": 1, "tensorflow": 1},
    "residual block": {"torch": 1.5, "tensorflow": 1},
    "depthwise 3×3": {"torch": 3, "tensorflow": 1},
    "embedding": {"torch": 0.5, "tensorflow": 1},
    "batch norm": {"torch": 1.6, "tensorflow": 1},
    "layer norm": {"torch": 4.5, "tensorflow": 1},
    "softmax": {"torch": 1.7, "tensorflow": 1},
    "gelu": {"torch": 4, "tensorflow": 1},
    "LSTM": {"tensorflow": 1},
    "LSTM, cell loop": {"torch": 1, "tensorflow": 1},
    "attention": {"torch": 1.25, "tensorflow": 1},
    "attention, einsum": {"torch": 1.25, "tensorflow": 1},
    "attention, fused": {"torch": 1.25, "tensorflow": 1},
    "pipeline": {"tensorflow": 1 / 3},
    "tape memory, MLP": {"torch": 1},
    "PINN": FASTER,
    "Newton": FASTER,
    "Rosenbrock": FASTER,
    "Adam, 100 variables": FASTER,
}
UNWATCHED = 1.1  # of the cost of an op outside any tape
LSTM_LOOP = 0.4  # of PyTorch's loop over cells

# Compiled, gradtape must not need more than any other compiler, but for the rows below.
COMPILERS = {"tensorflow": 1, "tensorflow_xla": 1, "torch": 1, "jax": 1}
COMPILED = {
    **{
        row: {**COMPILERS, "numpy": 1}
        for row in ["MLP tiny", "MLP medium", "MLP wide", "jacobian", "LSTM", "Adam, 100 variables"]
    },
    "elementwise 10^6": {**COMPILERS, "numpy": 1, "torch_eager": 0.5},
    "CNN": {"jax": 1, "tensorflow": 2},
    "residual block": {"jax": 1, "tensorflow": 2},
    "convolution 3×3": {"jax": 1, "tensorflow": 2},
    "depthwise 3×3": {"jax": 1, "tensorflow": 2},
    "attention": {"tensorflow": 1, "torch_eager": 1.25},
    "attention, einsum": {"tensorflow": 1, "torch_eager": 1.25},
    "attention, fused": {"tensorflow": 1, "torch_eager": 1.25},
    "layer norm": {"tensorflow": 1, "torch_eager": 4.5},
}
MEAN = {"eager": 0.8, "compiled": 0.9}  # over all workloads, against the best peer of each


def verdicts(record):
    """(what, ratio, limit, met) of each budget whose two sides were measured."""
    for what, ratio, limit in ratios(record):
        yield what, ratio, limit, float(f"{ratio:.3g}") <= float(f"{limit:.3g}")  # as it is printed


def ratios(record):
    results, mode = record["results"], record["mode"]
    for row, cells in results.items():
        workload = record["rows"][row]["group"] in WORKLOADS
        usual = COMPILERS if mode == "compiled" and workload else {}
        for peer, limit in (EAGER if mode == "eager" else COMPILED).get(row, usual).items():
            if measured(cells, "gradtape", peer):
                yield f"{row}: gradtape / {peer}", cells["gradtape"] / cells[peer], limit
    if mode == "eager":
        yield from across_rows(results)
    for what, groups in [("workload", WORKLOADS), ("step", ("step",))]:
        mean = geometric_mean(ratio for *_, ratio in against_best(record, groups))
        if mean is not None:
            yield f"geometric mean against the best peer of each {what}", mean, MEAN[mode]


def across_rows(results):
    inside, outside = results.get("op, unwatched", {}), results.get("op, outside a tape", {})
    if measured(inside, "gradtape") and measured(outside, "gradtape"):
        ratio = inside["gradtape"] / outside["gradtape"]
        yield "op: unwatched / outside a tape", ratio, UNWATCHED
    fused, loop = results.get("LSTM", {}), results.get("LSTM, cell loop", {})
    if measured(fused, "gradtape") and measured(loop, "torch"):
        yield "LSTM: gradtape / torch's cell loop", fused["gradtape"] / loop["torch"], LSTM_LOOP


def measured(cells, *frameworks):
    return all(isinstance(cells.get(name), float) for name in frameworks)
