"""The budgets of the design: the largest allowed ratio of gradtape's cost to a peer's."""

from tables import WORKLOADS, compare_with_best, geometric_mean

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

# Compiled steps must not be slower than with any other compiler, except in the rows below.
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


def check_budgets(record):
    """Yield (what, ratio, limit, met) for each budget with results on both sides."""
    for what, ratio, limit in budget_ratios(record):
        yield what, ratio, limit, float(f"{ratio:.3g}") <= float(f"{limit:.3g}")  # as it is printed


def budget_ratios(record):
    results, mode = record["results"], record["mode"]
    for row, cells in results.items():
        workload = record["rows"][row]["group"] in WORKLOADS
        default = COMPILERS if mode == "compiled" and workload else {}
        for peer, limit in (EAGER if mode == "eager" else COMPILED).get(row, default).items():
            if has_figures(cells, "gradtape", peer):
                yield f"{row}: gradtape / {peer}", cells["gradtape"] / cells[peer], limit
    if mode == "eager":
        yield from ratios_across_rows(results)
    for what, groups in [("workload", WORKLOADS), ("step", ("step",))]:
        mean = geometric_mean(ratio for *_, ratio in compare_with_best(record, groups))
        if mean is not None:
            yield f"geometric mean against the best peer of each {what}", mean, MEAN[mode]


def ratios_across_rows(results):
    inside, outside = results.get("op, unwatched", {}), results.get("op, outside a tape", {})
    if has_figures(inside, "gradtape") and has_figures(outside, "gradtape"):
        ratio = inside["gradtape"] / outside["gradtape"]
        yield "op: unwatched / outside a tape", ratio, UNWATCHED
    fused, loop = results.get("LSTM", {}), results.get("LSTM, cell loop", {})
    if has_figures(fused, "gradtape") and has_figures(loop, "torch"):
        yield "LSTM: gradtape / torch's cell loop", fused["gradtape"] / loop["torch"], LSTM_LOOP


def has_figures(cells, *frameworks):
    return all(isinstance(cells.get(name), float) for name in frameworks)
