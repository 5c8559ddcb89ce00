"""What the birth of a NaN or infinity means, and how to mend it."""

from __future__ import annotations

from gradtape.debug.anomaly.birth import Birth

LOGARITHMS = ("log", "log1p", "xlogy", "xlog1py", "log_sigmoid")
DIVISIONS = (
    "divide",
    "reciprocal",
    "floordiv",
    "mod",
    "floor_mod",
    "truncate_mod",
    "reciprocal_no_nan",
)
SQUARE_ROOTS = ("sqrt", "rsqrt")
BOUNDED = ("acos", "asin", "atanh", "acosh")
EXPONENTIALS = ("exp", "expm1", "sinh", "cosh")
SUMS = ("reduce_sum", "reduce_mean", "cumsum")
MANY = 8  # runs of one instruction that make a recurrence

MEANINGS = {
    "where_trap": "{op} gives NaN or infinity in the branch of tf.where that is not taken; its "
    "gradient is not masked.",
    "log_zero": "the logarithm of zero or of a negative number.",
    "divide_zero": "a division by zero, or the mean of no elements.",
    "div_no_nan_missing": "a ratio whose denominator is zero.",
    "sqrt_zero_gradient": "the derivative of the square root at zero is infinite.",
    "norm_zero": "the norm of a zero vector has no gradient, and cannot be divided by.",
    "pow_negative_base": "a negative number to a fractional power.",
    "overflow_exp": "an exponential exceeds the largest number of its dtype.",
    "overflow_half": "the result exceeds the largest number of float16, 65504.",
    "overflow": "the result exceeds the largest number of its dtype.",
    "softmax_by_hand": "a softmax written as exp(x) / sum(exp(x)) overflows or divides by zero.",
    "acos_boundary": "{op} or its derivative is infinite or undefined at the end of its domain.",
    "nan_input": "the data already contains NaN or infinity.",
    "exploding_recurrence": "the same line ran {repeats} times, and its result grew each time.",
    "variance_negative": "the square root of a negative number: a variance became negative.",
    "invalid": "{op} is not defined for its input.",
}

FIXES = {
    "where_trap": "use tf.where twice: first give the op a harmless input where the result is "
    "masked.",
    "log_zero": "use tf.math.log(tf.maximum(x, 1e-7)), tf.math.xlogy, or a loss of logits.",
    "divide_zero": "use tf.math.divide_no_nan, or add a small number to the denominator.",
    "div_no_nan_missing": "use tf.math.divide_no_nan(a, b).",
    "sqrt_zero_gradient": "use tf.sqrt(x + 1e-12).",
    "norm_zero": "use tf.math.l2_normalize, or tf.sqrt(tf.reduce_sum(x ** 2) + 1e-12).",
    "pow_negative_base": "use tf.abs(x) ** p, or clip the base at zero.",
    "overflow_exp": "clip the exponent, or use tf.nn.softplus, tf.sigmoid or tf.reduce_logsumexp.",
    "overflow_half": "compute this in float32, or scale the values down.",
    "overflow": "scale the values down, or use float64.",
    "softmax_by_hand": "use tf.nn.softmax(x).",
    "acos_boundary": "clip the input to the inside of the domain, by 1e-7 for example.",
    "nan_input": "clean the data: tf.where(tf.math.is_finite(x), x, 0.0).",
    "exploding_recurrence": "normalise the state at each step, clip gradients, or use fewer steps.",
    "variance_negative": "use tf.math.reduce_variance, or tf.maximum(variance, 0.0).",
    "invalid": "keep the input inside the domain of the op.",
}


def find_cause(birth: Birth, is_masked: bool) -> str:
    """The cause of a birth; `is_masked` if the target is finite although the value is not."""
    if birth.direction == "backward":
        return backward_cause(birth)
    if is_masked and "select" in birth.uses:
        return "where_trap"
    return forward_cause(birth)


def forward_cause(birth: Birth) -> str:
    """The cause of a birth in the forward pass."""
    op, facts = birth.op, birth.facts
    if "non-finite input" in facts:
        return "nan_input"
    if op in BOUNDED:
        return "acos_boundary"
    if op in LOGARITHMS:
        return "log_zero"
    if op in SQUARE_ROOTS:
        return (
            "divide_zero"
            if op == "rsqrt" and "negative first" not in facts
            else ("variance_negative")
        )
    if op in ("power", "pow"):
        return power_cause(birth)
    if op in DIVISIONS and ("zero second" in facts or op.startswith("reciprocal")):
        return division_cause(birth)
    return overflow_cause(birth)


def power_cause(birth: Birth) -> str:
    """The cause of a bad power."""
    if "zero first" in birth.facts and "negative second" in birth.facts:
        return "divide_zero"
    return "pow_negative_base" if "negative first" in birth.facts else overflow_cause(birth)


def division_cause(birth: Birth) -> str:
    """The cause of a division by zero."""
    if any(op in EXPONENTIALS for op in birth.context) and "reduce_sum" in birth.context:
        return "softmax_by_hand"
    if "norm" in birth.facts:
        return "norm_zero"
    if any(op in SUMS for op in birth.context):
        return "div_no_nan_missing"
    return "divide_zero"


def overflow_cause(birth: Birth) -> str:
    """The cause of an overflow."""
    if "half" in birth.facts:
        return "overflow_half"
    if "empty first" in birth.facts:
        return "divide_zero"
    if birth.op in EXPONENTIALS and birth.is_softmax:
        return "softmax_by_hand"
    if birth.op in EXPONENTIALS or any(op in EXPONENTIALS for op in birth.context):
        return "overflow_exp"
    if birth.repeats >= MANY:
        return "exploding_recurrence"
    return "overflow"


def backward_cause(birth: Birth) -> str:
    """The cause of a birth in the backward pass, by the forward op."""
    op = birth.op
    if op in BOUNDED:
        return "acos_boundary"
    if op in SQUARE_ROOTS or op in ("reduce_euclidean_norm", "abs", "norm"):
        return (
            "norm_zero"
            if "norm" in birth.facts or op not in SQUARE_ROOTS
            else ("sqrt_zero_gradient")
        )
    if op in ("power", "pow"):
        is_root = any(f.startswith("second=0.") for f in birth.facts)
        negative = "negative first" in birth.facts
        return (
            "pow_negative_base"
            if negative
            else ("sqrt_zero_gradient" if is_root or "zero first" in birth.facts else "overflow")
        )
    if op in LOGARITHMS:
        return "log_zero"
    if op in DIVISIONS:
        return division_cause(birth)
    return overflow_cause(birth)
