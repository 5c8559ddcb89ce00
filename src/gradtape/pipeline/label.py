"""What datasets are called when they are printed: TensorFlow's names of what made them."""

from __future__ import annotations

from functools import wraps
from typing import Any

LABELS = {
    "from_tensors": "Tensor",
    "from_tensor_slices": "TensorSlice",
    "from_generator": "FlatMap",
    "range": "Range",
    "random": "Random",
    "zip": "Zip",
    "concatenate": "Concatenate",
    "repeat": "Repeat",
    "enumerate": "Zip",
    "shuffle": "Shuffle",
    "cache": "Cache",
    "take": "Take",
    "skip": "Skip",
    "shard": "Shard",
    "batch": "Batch",
    "padded_batch": "PaddedBatch",
    "unbatch": "Unbatch",
    "map": "Map",
    "flat_map": "FlatMap",
    "interleave": "Interleave",
    "filter": "Filter",
    "take_while": "TakeWhile",
    "scan": "Scan",
    "window": "Window",
    "prefetch": "Prefetch",
    "unique": "Unique",
    "rebatch": "Rebatch",
    "group_by_window": "GroupByWindow",
    "ignore_errors": "IgnoreErrors",
    "sample_from_datasets": "DirectedInterleave",
    "choose_from_datasets": "DirectedInterleave",
    "with_options": "Options",
}
# Of these there is another kind for several calls at a time, which this parameter asks for.
PARALLEL = {"map": 2, "interleave": 4, "batch": 3}


def label(dataset: Any) -> None:
    """Let the methods of a class of datasets name what they make."""
    for name, kind in LABELS.items():
        for owner in dataset.__mro__:
            method = vars(owner).get(name)
            if isinstance(method, staticmethod):
                setattr(owner, name, staticmethod(naming(method.__func__, kind, name)))
            elif method is not None:
                setattr(owner, name, naming(method, kind, name))


def naming(method: Any, kind: str, name: str) -> Any:
    """A method that names the dataset it makes."""

    @wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        made = method(*args, **kwargs)
        place = PARALLEL.get(name, len(args))
        calls = kwargs.get("num_parallel_calls", args[place] if place < len(args) else None)
        prefix = "_Parallel" if name in PARALLEL and calls is not None else "_"
        made._label = "CacheDataset" if kind == "Cache" else f"{prefix}{kind}Dataset"
        return made

    return call
