"""The budgets of the design: the most gradtape may need, as a fraction of what a peer needs."""

FASTER = {"torch": 1, "jax": 1, "autograd": 1, "tensorflow": 1}

BUDGETS = {
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
}
UNWATCHED = 1.1  # of the cost of an op outside any tape
LSTM_LOOP = 0.4  # of PyTorch's loop over cells


def verdicts(results):
    """(what, ratio, limit, met) of each budget whose two sides were measured."""
    for what, ratio, limit in ratios(results):
        yield what, ratio, limit, float(f"{ratio:.3g}") <= float(f"{limit:.3g}")  # as it is printed


def ratios(results):
    for row, limits in BUDGETS.items():
        cells = results.get(row, {})
        for peer, limit in limits.items():
            if measured(cells, "gradtape", peer):
                yield f"{row}: gradtape / {peer}", cells["gradtape"] / cells[peer], limit
    inside, outside = results.get("op, unwatched", {}), results.get("op, outside a tape", {})
    if measured(inside, "gradtape") and measured(outside, "gradtape"):
        ratio = inside["gradtape"] / outside["gradtape"]
        yield "op: unwatched / outside a tape", ratio, UNWATCHED
    fused, loop = results.get("LSTM", {}), results.get("LSTM, cell loop", {})
    if measured(fused, "gradtape") and measured(loop, "torch"):
        yield "LSTM: gradtape / torch's cell loop", fused["gradtape"] / loop["torch"], LSTM_LOOP


def measured(cells, *frameworks):
    return all(isinstance(cells.get(name), float) for name in frameworks)
