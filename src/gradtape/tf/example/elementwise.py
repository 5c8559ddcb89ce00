"""Examples of the elementwise functions of `tf.math`."""

ELEMENTWISE = {
    "abs": (">>> tf.abs([-1.5, 2.0]).numpy()\narray([1.5, 2. ], dtype=float32)"),
    "acos": (
        ">>> tf.math.acos([0.25, 0.5]).numpy().round(3)\narray([1.318, 1.047], dtype=float32)"
    ),
    "acosh": (
        ">>> tf.math.acosh([1.0, 2.0]).numpy().round(3)\narray([0.   , 1.317], dtype=float32)"
    ),
    "add": (">>> tf.math.add([5.0, 2.0], 3.0).numpy()\narray([8., 5.], dtype=float32)"),
    "angle": (">>> tf.math.angle([1j]).numpy().round(4)\narray([1.5708])"),
    "asin": (
        ">>> tf.math.asin([0.25, 0.5]).numpy().round(3)\narray([0.253, 0.524], dtype=float32)"
    ),
    "asinh": (
        ">>> tf.math.asinh([0.25, 0.5]).numpy().round(3)\narray([0.247, 0.481], dtype=float32)"
    ),
    "atan": (
        ">>> tf.math.atan([0.25, 0.5]).numpy().round(3)\narray([0.245, 0.464], dtype=float32)"
    ),
    "atan2": (
        ">>> tf.math.atan2([1.0, -1.0], [0.0, -1.0]).numpy().round(3)\n"
        "array([ 1.571, -2.356], dtype=float32)"
    ),
    "atanh": (
        ">>> tf.math.atanh([0.25, 0.5]).numpy().round(3)\narray([0.255, 0.549], dtype=float32)"
    ),
    "ceil": (">>> tf.math.ceil([-1.5, 2.5]).numpy()\narray([-1.,  3.], dtype=float32)"),
    "cos": (">>> tf.math.cos([0.25, 0.5]).numpy().round(3)\narray([0.969, 0.878], dtype=float32)"),
    "cosh": (
        ">>> tf.math.cosh([0.25, 0.5]).numpy().round(3)\narray([1.031, 1.128], dtype=float32)"
    ),
    "divide": (
        ">>> tf.math.divide([5.0, 2.0], 3.0).numpy()\narray([1.6666666, 0.6666667], dtype=float32)"
    ),
    "equal": (">>> tf.math.equal([1, 2, 3], 2).numpy()\narray([False,  True, False])"),
    "exp": (">>> tf.math.exp([0.25, 0.5]).numpy().round(3)\narray([1.284, 1.649], dtype=float32)"),
    "expm1": (
        ">>> tf.math.expm1([0.25, 0.5]).numpy().round(3)\narray([0.284, 0.649], dtype=float32)"
    ),
    "floor": (">>> tf.math.floor([-1.5, 2.5]).numpy()\narray([-2.,  2.], dtype=float32)"),
    "floordiv": (">>> tf.math.floordiv([5.0, 2.0], 3.0).numpy()\narray([1., 0.], dtype=float32)"),
    "floormod": (">>> tf.math.floormod([5.0, 2.0], 3.0).numpy()\narray([2., 2.], dtype=float32)"),
    "greater": (">>> tf.math.greater([1, 2, 3], 2).numpy()\narray([False, False,  True])"),
    "greater_equal": (
        ">>> tf.math.greater_equal([1, 2, 3], 2).numpy()\narray([False,  True,  True])"
    ),
    "imag": (">>> tf.math.imag([1 + 2j]).numpy()\narray([2.])"),
    "is_finite": (
        '>>> tf.math.is_finite([1.0, float("nan"), float("inf")]).numpy()\n'
        "array([ True, False, False])"
    ),
    "is_inf": (
        '>>> tf.math.is_inf([1.0, float("nan"), float("inf")]).numpy()\n'
        "array([False, False,  True])"
    ),
    "is_nan": (
        '>>> tf.math.is_nan([1.0, float("nan"), float("inf")]).numpy()\n'
        "array([False,  True, False])"
    ),
    "less": (">>> tf.math.less([1, 2, 3], 2).numpy()\narray([ True, False, False])"),
    "less_equal": (">>> tf.math.less_equal([1, 2, 3], 2).numpy()\narray([ True,  True, False])"),
    "log": (
        ">>> tf.math.log([0.25, 0.5]).numpy().round(3)\narray([-1.386, -0.693], dtype=float32)"
    ),
    "log1p": (
        ">>> tf.math.log1p([0.25, 0.5]).numpy().round(3)\narray([0.223, 0.405], dtype=float32)"
    ),
    "log_sigmoid": (
        ">>> tf.math.log_sigmoid([0.25, 0.5]).numpy().round(3)\n"
        "array([-0.576, -0.474], dtype=float32)"
    ),
    "logical_and": (
        ">>> tf.math.logical_and([True, True, False], [True, False, False]).numpy()\n"
        "array([ True, False, False])"
    ),
    "logical_not": (">>> tf.math.logical_not([True, False]).numpy()\narray([False,  True])"),
    "logical_or": (
        ">>> tf.math.logical_or([True, True, False], [True, False, False]).numpy()\n"
        "array([ True,  True, False])"
    ),
    "logical_xor": (
        ">>> tf.math.logical_xor([True, True, False], [True, False, False]).numpy()\n"
        "array([False,  True, False])"
    ),
    "maximum": (">>> tf.math.maximum([5.0, 2.0], 3.0).numpy()\narray([5., 3.], dtype=float32)"),
    "minimum": (">>> tf.math.minimum([5.0, 2.0], 3.0).numpy()\narray([3., 2.], dtype=float32)"),
    "multiply": (">>> tf.math.multiply([5.0, 2.0], 3.0).numpy()\narray([15.,  6.], dtype=float32)"),
    "negative": (">>> tf.negative([1, -2]).numpy()\narray([-1,  2], dtype=int32)"),
    "nextafter": (">>> tf.math.nextafter(1.0, 2.0).numpy() > 1.0\nnp.True_"),
    "not_equal": (">>> tf.math.not_equal([1, 2, 3], 2).numpy()\narray([ True, False,  True])"),
    "pow": (">>> tf.math.pow([5.0, 2.0], 3.0).numpy()\narray([125.,   8.], dtype=float32)"),
    "real": (">>> tf.math.real([1 + 2j]).numpy()\narray([1.])"),
    "reciprocal": (
        ">>> tf.math.reciprocal([0.25, 0.5]).numpy().round(3)\narray([4., 2.], dtype=float32)"
    ),
    "rint": (">>> tf.math.rint([-1.5, 2.5]).numpy()\narray([-2.,  2.], dtype=float32)"),
    "round": (">>> tf.round([0.5, 1.5, 2.7]).numpy()\narray([0., 2., 3.], dtype=float32)"),
    "rsqrt": (
        ">>> tf.math.rsqrt([0.25, 0.5]).numpy().round(3)\narray([2.   , 1.414], dtype=float32)"
    ),
    "sigmoid": (
        ">>> tf.math.sigmoid([0.25, 0.5]).numpy().round(3)\narray([0.562, 0.622], dtype=float32)"
    ),
    "sign": (">>> tf.sign([-3.0, 0.0, 2.0]).numpy()\narray([-1.,  0.,  1.], dtype=float32)"),
    "sin": (">>> tf.math.sin([0.25, 0.5]).numpy().round(3)\narray([0.247, 0.479], dtype=float32)"),
    "sinh": (
        ">>> tf.math.sinh([0.25, 0.5]).numpy().round(3)\narray([0.253, 0.521], dtype=float32)"
    ),
    "softplus": (
        ">>> tf.math.softplus([0.25, 0.5]).numpy().round(3)\narray([0.826, 0.974], dtype=float32)"
    ),
    "softsign": (
        ">>> tf.math.softsign([0.25, 0.5]).numpy().round(3)\narray([0.2  , 0.333], dtype=float32)"
    ),
    "sqrt": (
        ">>> tf.math.sqrt([0.25, 0.5]).numpy().round(3)\narray([0.5  , 0.707], dtype=float32)"
    ),
    "square": (">>> tf.square([-3.0, 2.0]).numpy()\narray([9., 4.], dtype=float32)"),
    "squared_difference": (
        ">>> tf.math.squared_difference([5.0, 2.0], 3.0).numpy()\narray([4., 1.], dtype=float32)"
    ),
    "subtract": (">>> tf.math.subtract([5.0, 2.0], 3.0).numpy()\narray([ 2., -1.], dtype=float32)"),
    "tan": (">>> tf.math.tan([0.25, 0.5]).numpy().round(3)\narray([0.255, 0.546], dtype=float32)"),
    "tanh": (
        ">>> tf.math.tanh([0.25, 0.5]).numpy().round(3)\narray([0.245, 0.462], dtype=float32)"
    ),
    "truediv": (
        ">>> tf.math.truediv([5.0, 2.0], 3.0).numpy()\narray([1.6666666, 0.6666667], dtype=float32)"
    ),
}
