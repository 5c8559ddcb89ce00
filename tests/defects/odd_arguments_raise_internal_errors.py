"""Arguments that make no sense raise TypeError, ValueError or one of TensorFlow's errors; not AttributeError, IndexError or KeyError.

(Our own aim: TensorFlow is not better here.)
"""

import warnings
from collections import Counter
from itertools import pairwise

import numpy as np
from checking import check, end, within

import gradtape as tf

within(19)
warnings.simplefilter("ignore")
ODD = [
    None,
    object(),
    [],
    {},
    "",
    b"x",
    -1,
    [[1], [2, 3]],
    np.array([None]),
    tf.constant([], tf.float32),
    tf.constant(2.0),
    slice(None),
    int,
]
HOMES = {
    "tf": tf,
    "math": tf.math,
    "linalg": tf.linalg,
    "nn": tf.nn,
    "strings": tf.strings,
    "ragged": tf.ragged,
    "sparse": tf.sparse,
    "signal": tf.signal,
    "image": tf.image,
}
LEFT_OUT = {
    "print",
    "install",
    "uninstall",
    "function",
    "py_function",
    "numpy_function",
    "init_scope",
    "device",
    "load_library",
    "load_op_library",
    "name_scope",
    "timestamp",
    "while_loop",
    "sobol_sample",
}
LEFT_OUT |= {
    "crossed",
    "held_by",
    "masked",
    "number_of",
    "sorted_by",
    "check_places",
    "places_of",
}  # no names of TensorFlow's
seen, tried = Counter(), 0
for home, name in sorted((home, name) for home, module in HOMES.items() for name in dir(module)):
    if name.startswith("_") or name in LEFT_OUT:
        continue
    try:
        use = getattr(HOMES[home], name)
    except Exception:
        continue
    if isinstance(use, type) or not callable(use):
        continue
    for arguments in [*((a,) for a in ODD), *pairwise(ODD)]:
        tried += 1
        try:
            use(*arguments)
        except (
            AttributeError,
            IndexError,
            KeyError,
            RecursionError,
            AssertionError,
            UnboundLocalError,
            ZeroDivisionError,
        ) as error:
            if not isinstance(error, (tf.errors.OpError, TypeError, ValueError)):
                seen[f"{home}.{name}: {type(error).__name__}"] += 1
        except Exception:
            pass
print(tried, "calls")
for name, times in sorted(seen.items()):
    print(f"  {name}, {times} times")
check("functions that answer with an internal error", [], sorted(seen))
end()
