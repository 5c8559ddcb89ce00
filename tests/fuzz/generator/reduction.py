"""Statements that compute along axes: reductions, cumulative sums, sorting, segments."""

from tests.fuzz.generator.scope import Scope, Unfit
from tests.fuzz.generator.values import COMPLEX, FLOATS, INEXACT, INTEGERS, NUMBERS

REDUCTIONS = {
    "tf.reduce_sum": NUMBERS,
    "tf.reduce_mean": NUMBERS,
    "tf.reduce_prod": NUMBERS,
    "tf.reduce_max": (*FLOATS, *INTEGERS),
    "tf.reduce_min": (*FLOATS, *INTEGERS),
    "tf.reduce_logsumexp": FLOATS,
    "tf.math.reduce_std": INEXACT,
    "tf.math.reduce_variance": INEXACT,
    "tf.math.reduce_euclidean_norm": (*FLOATS, *COMPLEX),
    "tf.norm": FLOATS,
    "tf.math.count_nonzero": NUMBERS,
    "tf.reduce_any": ("bool",),
    "tf.reduce_all": ("bool",),
    "tf.strings.reduce_join": ("string",),
}
ALONG = {
    (*FLOATS, *INTEGERS): [
        *("tf.argmax(A, AXIS)", "tf.argmin(A, AXIS, 'int32')", "tf.sort(A, AXIS)"),
        *("tf.argsort(A, AXIS, 'DESCENDING', stable=True)", "tf.sort(A, AXIS, 'DESCENDING')"),
    ],
    NUMBERS: [
        *("tf.cumsum(A, AXIS)", "tf.cumsum(A, AXIS, exclusive=True, reverse=True)"),
        *("tf.math.cumprod(A, AXIS)", "tf.math.cumprod(A, AXIS, reverse=True)"),
    ],
    FLOATS: [
        *("tf.nn.softmax(A, AXIS)", "tf.nn.log_softmax(A, AXIS)", "tf.nn.l2_normalize(A, AXIS)"),
        *("tf.math.cumulative_logsumexp(A, AXIS)", "tf.nn.moments(A, [AXIS])[1]"),
        *("A - tf.reduce_mean(A, AXIS, keepdims=True)", "tf.nn.moments(A, AXIS, keepdims=True)[0]"),
        "A / (1 + tf.reduce_max(tf.abs(A), AXIS, keepdims=True))",
    ],
}


def draw_axes(scope: Scope, name: str) -> str:
    """One axis, several, or all of them."""
    rank = scope.rank(name)
    if not rank or scope.draw.random() < 0.25:
        return "None"
    if scope.draw.random() < 0.6:
        return str(scope.axis(name))
    least = 0 if "no_axes" in scope.setting.features else 1
    axes = scope.draw.sample(range(rank), scope.draw.randint(least, rank))
    return str([a - rank if scope.draw.random() < 0.5 else a for a in axes])


def draw_reduction(scope: Scope) -> None:
    """A reduction over some axes."""
    name = scope.pick()
    dtype = scope.dtype(name)
    found = [op for op, dtypes in REDUCTIONS.items() if dtype in dtypes]
    if not found:
        raise Unfit
    op = scope.draw.choice(found)
    axes = draw_axes(scope, name)
    if op == "tf.norm" and axes.startswith("["):
        axes = "None"
    keeps = scope.draw.random() < 0.3
    scope.add(f"{op}({name}, axis={axes}, keepdims={keeps})")


def draw_along_axis(scope: Scope) -> None:
    """A cumulative sum, a softmax, a sort along one axis."""
    name = scope.pick_ranked(1, NUMBERS)
    dtype = scope.dtype(name)
    found = [text for dtypes, texts in ALONG.items() if dtype in dtypes for text in texts]
    text = scope.draw.choice(found)
    scope.add(text.replace("AXIS", str(scope.axis(name))).replace("A", name))


def draw_top_k(scope: Scope) -> None:
    """The largest elements of each row, or their positions."""
    name = scope.pick((*FLOATS, "int32"), lambda t: len(t.shape) > 0 and t.shape[-1] > 0)
    k = scope.draw.randint(1, scope.shape(name)[-1])
    scope.add(f"tf.math.top_k({name}, {k})[{scope.draw.randint(0, 1)}]")


def draw_segments(scope: Scope) -> None:
    """A sum, mean, maximum of segments of rows."""
    name = scope.pick_ranked(1, (*FLOATS, "int32", "int64"))
    rows, draw = scope.shape(name)[0], scope.draw
    if rows > 8:
        rows = 8
        name = f"{name}[:8]"
    op = draw.choice(["sum", "mean", "max", "min", "prod"])
    if draw.random() < 0.5:
        ids = sorted(draw.randint(0, 3) for _ in range(rows))
        scope.add(f"tf.math.segment_{op}({name}, tf.constant({ids}, 'int32'))")
    else:
        ids = [draw.randint(-1, 4) for _ in range(rows)]
        scope.add(f"tf.math.unsorted_segment_{op}({name}, tf.constant({ids}, 'int32'), 5)")


def draw_count(scope: Scope) -> None:
    """Counts and distinct values; their size depends on values."""
    name = scope.pick((*FLOATS, "int32"))
    name = f"tf.reshape(tf.cast({name}, 'int32'), [-1])"
    if scope.setting.is_special and "nan_to_integer" not in scope.setting.features:
        raise Unfit
    text = scope.draw.choice(
        [
            f"tf.math.bincount(tf.abs({name}), minlength=3)",
            f"tf.unique({name})[0]",
            f"tf.unique_with_counts({name})[2]",
            f"tf.math.bincount(tf.abs({name}), maxlength=4)",
            f"tf.sequence_mask(tf.abs({name}), 5)",
            f"tf.searchsorted(tf.sort({name}), {name})",
            f"tf.histogram_fixed_width({name}, [0, 5], 4)",
        ]
    )
    scope.add(text)
