"""Statements with an expression of the op corpus, on arrays that a program captures."""

from functools import cache

from tests.fuzz.generator.scope import Scope, Unfit
from tests.fuzz.generator.values import FLOATS, render_tensor
from tests.jit.every_op import programs

# Expressions whose values depend on a stream, or on rounding.
LEFT_OUT = ("stream/", "check/", "strings/tf.strings.format", "image/tf.image.random")


@cache
def list_expressions():
    """Expressions of tensors only, with their arrays."""
    return [
        (program.expression.strip(), program.arrays)
        for name, program in programs().items()
        if not program.others
        and not name.startswith(LEFT_OUT)
        and all(array.size <= 64 for array in program.arrays.values())
    ]


def draw_corpus(scope: Scope) -> None:
    """One expression; one of its arrays is scaled by a value of the program."""
    expression, arrays = scope.draw.choice(list_expressions())
    renamed = {name: scope.make_name("c") for name in arrays}
    scale = next(
        (n for n in reversed(scope.names) if scope.dtype(n) in ("float32", "float64")), None
    )
    lead = ""
    for name, array in arrays.items():
        dtype = scope.env["tf"].dtypes.as_dtype(array.dtype).name
        text = render_tensor(array, dtype)
        if dtype in FLOATS and scale and scope.draw.random() < 0.5:
            factor = f"tf.cast(tf.sigmoid(tf.reduce_sum({scale})), '{dtype}')"
            text = f"{text} * (0.9 + 0.1 * {factor})"
        lead += f"{renamed[name]} = {text}\n"
    target = scope.make_name()
    parameters = ", ".join(f"{name}={new}" for name, new in renamed.items())
    text = f"{lead}{target} = (lambda {', '.join(arrays)}: {expression})({parameters})"
    if "tnp" in expression:
        raise Unfit
    scope.add(f"(lambda {', '.join(arrays)}: {expression})({parameters})", lead=lead)
