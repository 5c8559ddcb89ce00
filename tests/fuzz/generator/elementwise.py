"""Statements with elementwise ops, casts and strings."""

import re

from tests.fuzz.generator.scope import Scope, Unfit
from tests.fuzz.generator.values import COMPLEX, DTYPES, FLOATS, INEXACT, INTEGERS, NUMBERS, SIGNED

# Templates by the dtypes of A; arguments stay in the domain of the function.
UNARY = {
    INEXACT: [
        *("tf.sin(A)", "tf.cos(A)", "tf.tanh(A)", "tf.exp(-tf.square(A) * 0.1)", "tf.sigmoid(A)"),
        *(
            "tf.square(A)",
            "tf.math.reciprocal(A * A + 2)",
            "tf.sqrt(A * A + 1)",
            "tf.sinh(A * 0.5)",
        ),
        *("tf.math.log(A * A + 2)", "tf.math.rsqrt(A * A + 1)", "A ** 2", "A ** 3", "tf.asinh(A)"),
        *(
            "tf.math.log1p(A * A + 1)",
            "tf.math.expm1(A * 0.1)",
            "tf.atan(tf.tanh(A))",
            "tf.cosh(A)",
        ),
        *("1 / (A * A + 2)", "tf.math.divide_no_nan(A, A * 0 + 2)", "tf.stop_gradient(A) + A"),
        *(
            "tf.identity(A)",
            "tf.zeros_like(A) + A",
            "tf.ones_like(A) * A",
            "2 * A",
            "A - 1",
            "1 - A",
        ),
        *("tf.grad_pass_through(tf.tanh)(A)", "tf.pow(A * A + 1, 0.5)", "tf.math.sin(A) * A"),
    ],
    FLOATS: [
        *("tf.nn.softplus(A)", "tf.nn.relu(A)", "tf.nn.elu(A)", "tf.nn.selu(A)", "tf.nn.swish(A)"),
        *("tf.nn.leaky_relu(A)", "tf.nn.gelu(A)", "tf.nn.relu6(A)", "tf.math.softsign(A)"),
        *(
            "tf.abs(A)",
            "tf.sign(A)",
            "tf.floor(A)",
            "tf.math.ceil(A)",
            "tf.round(A)",
            "tf.math.rint(A)",
        ),
        *("tf.math.erf(A)", "tf.math.erfc(A)", "tf.math.lgamma(A * A + 1)", "tf.math.is_finite(A)"),
        *("tf.clip_by_value(A, -1, 1)", "tf.where(A > 0, A, 0.1 * A)", "tf.math.log_sigmoid(A)"),
        *("tf.math.digamma(A * A + 1)", "tf.math.is_nan(A)", "tf.acos(tf.tanh(A) * 0.9)"),
        *(
            "tf.atanh(tf.tanh(A) * 0.9)",
            "tf.math.nextafter(A, A + 1)",
            "tf.math.xlogy(A, A * A + 1)",
        ),
        *("tf.math.bessel_i0e(A)", "tf.math.ndtri(tf.sigmoid(A))", "tf.clip_by_norm(A, 1.5)"),
        *("tf.nn.crelu(A)", "tf.nn.silu(A)"),
        *("tf.debugging.check_numerics(A, 'bad')", "tf.math.erfinv(tf.tanh(A) * 0.9)"),
    ],
    COMPLEX: [
        *(
            "tf.math.real(A)",
            "tf.math.imag(A)",
            "tf.math.conj(A)",
            "tf.abs(A)",
            "tf.math.angle(A + 3)",
        ),
        *("tf.signal.fft(A)", "tf.signal.ifft(A)"),
    ],
    SIGNED: ["tf.abs(A)", "tf.sign(A)", "-A", "tf.math.floormod(A, 3)", "A // 2", "A % 3"],
    INTEGERS: [
        *("A * 2", "A + 1", "tf.bitwise.invert(A)", "tf.bitwise.left_shift(A, tf.ones_like(A))"),
        *("tf.square(A)", "tf.clip_by_value(A, 0, 5)", "tf.bitwise.bitwise_and(A, A + 1)", "A / 3"),
        *("tf.strings.as_string(A)", "tf.one_hot(A, 4)", "A // 3", "tf.identity(A)"),
    ],
    ("bool",): [
        *("tf.logical_not(A)", "~A", "A & True", "A | False", "A ^ True", "tf.cast(A, 'float32')"),
        *("tf.where(A, 1.0, -1.0)", "tf.where(A)", "tf.strings.as_string(A)"),
    ],
    ("string",): [
        *("tf.strings.length(A)", "A + 'x'", "tf.strings.upper(A)", "tf.strings.join([A, A], '-')"),
        *("tf.strings.to_hash_bucket_fast(A, 7)", "tf.strings.regex_replace(A, 'a', 'zz')"),
        *("tf.strings.substr(A, 0, 1)", "tf.equal(A, 'a')", "tf.strings.strip(A)"),
    ],
}
BINARY = {
    NUMBERS: ["A + B", "A - B", "A * B", "tf.add_n([A, B])", "tf.math.squared_difference(A, B)"],
    INEXACT: [
        *("A / (B * B + 2)", "tf.math.divide_no_nan(A, B)", "tf.math.multiply_no_nan(A, B)"),
        "tf.math.truediv(A, B * B + 1)",
    ],
    (*FLOATS, *INTEGERS): [
        *("tf.maximum(A, B)", "tf.minimum(A, B)", "tf.where(A > B, A, B)", "A < B", "A >= B"),
        *("tf.equal(A, B)", "A != B", "tf.math.floordiv(A, B * B + 1)", "A // (B * B + 1)"),
        *("tf.math.floormod(A, B * B + 1)", "A % (B * B + 1)", "tf.less_equal(A, B)"),
    ],
    FLOATS: [
        *("tf.math.atan2(A, B)", "tf.pow(A * A + 1, tf.tanh(B))", "tf.math.xdivy(A, B * B + 1)"),
        *("tf.math.igamma(A * A + 1, B * B)", "tf.nn.sigmoid_cross_entropy_with_logits(A * B, B)"),
        *("tf.truncatemod(A, B * B + 1)", "tf.math.zeta(A * A + 2, B * B + 1)"),
        "tf.math.betainc(A * A + 1, B * B + 1, tf.sigmoid(A + B))",
    ],
    INTEGERS: ["tf.bitwise.bitwise_xor(A, B)", "tf.bitwise.bitwise_or(A, B)", "A // B", "A % B"],
    ("bool",): ["A & B", "A | B", "A ^ B", "tf.equal(A, B)", "tf.where(A, B, ~B)"],
    ("string",): ["A + B", "tf.equal(A, B)", "tf.strings.join([A, B])", "tf.where(A == B, A, B)"],
}


def choose_template(scope: Scope, table: dict[tuple[str, ...], list[str]]) -> tuple[str, str]:
    """A template and a name whose dtype it accepts."""
    name = scope.pick()
    dtype = scope.dtype(name)
    found = [text for dtypes, texts in table.items() if dtype in dtypes for text in texts]
    if not found:
        raise Unfit
    return scope.draw.choice(found), name


def draw_unary(scope: Scope) -> None:
    """A function of one tensor."""
    template, name = choose_template(scope, UNARY)
    scope.add(split_argument(scope, template.replace("A", name)))


def draw_binary(scope: Scope) -> None:
    """A function of two tensors that broadcast."""
    template, name = choose_template(scope, BINARY)
    first, second = name, scope.partner(name)
    if scope.draw.random() < 0.5:
        first, second = second, first
    names = {"A": first, "B": second}
    scope.add(split_argument(scope, "".join(names.get(part, part) for part in template)))


def split_argument(scope: Scope, text: str) -> str:
    """Compute a square plus a constant in a statement of its own, because it is rounded."""
    match = re.search(r"\b(\w+) \* \1 \+ \d", text)
    return text.replace(match[0], scope.add(match[0])) if match else text


def draw_select(scope: Scope) -> None:
    """`tf.where` with a condition that broadcasts."""
    name = scope.pick()
    try:
        condition = scope.pick(("bool",))
    except Unfit:
        condition = f"({name} == {scope.partner(name)})"
    scope.add(f"tf.where({condition}, {name}, {scope.partner(name)})")


def draw_cast(scope: Scope) -> None:
    """A cast; infinities and NaN are not cast to integers."""
    name = scope.pick(tuple(set(DTYPES) - {"string"}))
    to = scope.draw.choice([dtype for dtype in DTYPES if dtype != "string"])
    if scope.dtype(name) in COMPLEX and to not in COMPLEX:
        name = f"tf.math.real({name})"
    if to in INTEGERS:
        if scope.setting.is_special and "nan_to_integer" not in scope.setting.features:
            to = "float32"
        elif to.startswith("u"):
            name = f"tf.abs(tf.cast({name}, 'int32'))"
    scope.add(f"tf.cast({name}, '{to}')")


def draw_complex(scope: Scope) -> None:
    """A complex tensor of two real ones."""
    name = scope.pick(("float32", "float64"))
    scope.add(f"tf.complex({name}, {scope.partner(name)})")
