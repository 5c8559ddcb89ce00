"""Using a tensor that has left its tf.function: the traceback holds the user's lines only, whatever the use."""

import pathlib
import sys
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from checking import check, end

import gradtape as tf

kept = []


@tf.function
def f(x):
    kept.append(x * 2)
    return x


f(tf.constant(1.0))
USES = {
    "plus": lambda t: t + 1,
    "an op": lambda t: tf.sin(t),
    "float": lambda t: float(t),
    "if": lambda t: bool(t > 0),
    "a list": lambda t: tf.stack([t, t]),
    "another function": lambda t: tf.function(lambda x: x + t)(tf.constant(1.0)),
}
for name, use in USES.items():
    try:
        use(kept[0])
        frames = ["no error"]
    except Exception as error:
        frames = [
            f"{f.filename.rpartition('/')[2]}:{f.lineno}"
            for f in traceback.extract_tb(error.__traceback__)
            if f.filename != __file__
        ]
    check(f"{name}: frames that are not the user's", [], frames)
end()
