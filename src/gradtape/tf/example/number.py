"""Examples of special functions, reductions, segments and bits."""

SPECIAL = {
    "bessel_i0": (
        ">>> tf.math.special.bessel_i0([0.5, 1.0]).numpy().round(3)\n"
        "array([1.063, 1.266], dtype=float32)"
    ),
    "bessel_i0e": (
        ">>> tf.math.special.bessel_i0e([0.5, 1.0]).numpy().round(3)\n"
        "array([0.645, 0.466], dtype=float32)"
    ),
    "bessel_i1": (
        ">>> tf.math.special.bessel_i1([0.5, 1.0]).numpy().round(3)\n"
        "array([0.258, 0.565], dtype=float32)"
    ),
    "bessel_i1e": (
        ">>> tf.math.special.bessel_i1e([0.5, 1.0]).numpy().round(3)\n"
        "array([0.156, 0.208], dtype=float32)"
    ),
    "bessel_j0": (
        ">>> tf.math.special.bessel_j0([0.5, 1.0]).numpy().round(3)\n"
        "array([0.938, 0.765], dtype=float32)"
    ),
    "bessel_j1": (
        ">>> tf.math.special.bessel_j1([0.5, 1.0]).numpy().round(3)\n"
        "array([0.242, 0.44 ], dtype=float32)"
    ),
    "bessel_k0": (
        ">>> tf.math.special.bessel_k0([0.5, 1.0]).numpy().round(3)\n"
        "array([0.924, 0.421], dtype=float32)"
    ),
    "bessel_k0e": (
        ">>> tf.math.special.bessel_k0e([0.5, 1.0]).numpy().round(3)\n"
        "array([1.524, 1.144], dtype=float32)"
    ),
    "bessel_k1": (
        ">>> tf.math.special.bessel_k1([0.5, 1.0]).numpy().round(3)\n"
        "array([1.656, 0.602], dtype=float32)"
    ),
    "bessel_k1e": (
        ">>> tf.math.special.bessel_k1e([0.5, 1.0]).numpy().round(3)\n"
        "array([2.731, 1.636], dtype=float32)"
    ),
    "bessel_y0": (
        ">>> tf.math.special.bessel_y0([0.5, 1.0]).numpy().round(3)\n"
        "array([-0.445,  0.088], dtype=float32)"
    ),
    "bessel_y1": (
        ">>> tf.math.special.bessel_y1([0.5, 1.0]).numpy().round(3)\n"
        "array([-1.471, -0.781], dtype=float32)"
    ),
    "dawsn": (
        ">>> tf.math.special.dawsn([0.5, 1.0]).numpy().round(3)\n"
        "array([0.424, 0.538], dtype=float32)"
    ),
    "expint": (
        ">>> tf.math.special.expint([0.5, 1.0]).numpy().round(3)\n"
        "array([0.454, 1.895], dtype=float32)"
    ),
    "fresnel_cos": (
        ">>> tf.math.special.fresnel_cos([0.5, 1.0]).numpy().round(3)\n"
        "array([0.492, 0.78 ], dtype=float32)"
    ),
    "fresnel_sin": (
        ">>> tf.math.special.fresnel_sin([0.5, 1.0]).numpy().round(3)\n"
        "array([0.065, 0.438], dtype=float32)"
    ),
    "spence": (
        ">>> tf.math.special.spence([0.5, 1.0]).numpy().round(3)\n"
        "array([0.582, 0.   ], dtype=float32)"
    ),
}
BITWISE = {
    "bitwise_and": (
        ">>> tf.bitwise.bitwise_and([6, 12], [3, 2]).numpy()\narray([2, 0], dtype=int32)"
    ),
    "bitwise_or": (
        ">>> tf.bitwise.bitwise_or([6, 12], [3, 2]).numpy()\narray([ 7, 14], dtype=int32)"
    ),
    "bitwise_xor": (
        ">>> tf.bitwise.bitwise_xor([6, 12], [3, 2]).numpy()\narray([ 5, 14], dtype=int32)"
    ),
    "invert": (">>> tf.bitwise.invert([0, 1]).numpy()\narray([-1, -2], dtype=int32)"),
    "left_shift": (
        ">>> tf.bitwise.left_shift([6, 12], [3, 2]).numpy()\narray([48, 48], dtype=int32)"
    ),
    "right_shift": (
        ">>> tf.bitwise.right_shift([6, 12], [3, 2]).numpy()\narray([0, 3], dtype=int32)"
    ),
}
REDUCE = {
    "reduce_all": (
        ">>> tf.reduce_all([[True, False], [True, True]], axis=1).numpy()\narray([False,  True])"
    ),
    "reduce_any": (
        ">>> tf.reduce_any([[True, False], [False, False]], axis=1).numpy()\narray([ True, False])"
    ),
    "reduce_euclidean_norm": (
        ">>> tf.math.reduce_euclidean_norm([3.0, 4.0]).numpy()\nnp.float32(5.0)"
    ),
    "reduce_logsumexp": (
        ">>> tf.reduce_logsumexp([1000.0, 1000.0]).numpy()\nnp.float32(1000.6932)"
    ),
    "reduce_max": (
        ">>> tf.reduce_max([[1, 5], [7, 2]], axis=0).numpy()\narray([7, 5], dtype=int32)"
    ),
    "reduce_mean": (
        ">>> tf.reduce_mean([[1.0, 2.0], [3.0, 4.0]], axis=1).numpy()\n"
        "array([1.5, 3.5], dtype=float32)"
    ),
    "reduce_min": (
        ">>> tf.reduce_min([[1, 5], [7, 2]], axis=0).numpy()\narray([1, 2], dtype=int32)"
    ),
    "reduce_prod": (
        ">>> tf.reduce_prod([[1, 2], [3, 4]], axis=1).numpy()\narray([ 2, 12], dtype=int32)"
    ),
    "reduce_sum": (
        ">>> x = tf.constant([[1.0, 2.0], [3.0, 4.0]])\n"
        ">>> tf.reduce_sum(x).numpy()\n"
        "np.float32(10.0)\n"
        ">>> tf.reduce_sum(x, axis=0, keepdims=True).numpy()\n"
        "array([[4., 6.]], dtype=float32)"
    ),
}
CUMULATIVE = {
    "cumprod": (">>> tf.math.cumprod([1, 2, 3, 4]).numpy()\narray([ 1,  2,  6, 24], dtype=int32)"),
    "cumulative_logsumexp": (
        ">>> tf.math.cumulative_logsumexp([0.0, 0.0]).numpy().round(4)\n"
        "array([0.    , 0.6931], dtype=float32)"
    ),
}
SEGMENT = {
    "segment_max": (
        ">>> tf.math.segment_max([1, 5, 2], [0, 0, 1]).numpy()\narray([5, 2], dtype=int32)"
    ),
    "segment_mean": (
        ">>> tf.math.segment_mean([1.0, 5.0, 2.0], [0, 0, 1]).numpy()\n"
        "array([3., 2.], dtype=float32)"
    ),
    "segment_min": (
        ">>> tf.math.segment_min([1, 5, 2], [0, 0, 1]).numpy()\narray([1, 2], dtype=int32)"
    ),
    "segment_prod": (
        ">>> tf.math.segment_prod([2, 5, 3], [0, 0, 1]).numpy()\narray([10,  3], dtype=int32)"
    ),
    "segment_sum": (
        ">>> tf.math.segment_sum([1, 5, 2], [0, 0, 1]).numpy()\narray([6, 2], dtype=int32)"
    ),
    "sparse_segment_mean": (
        ">>> tf.sparse.segment_mean([[1.0], [3.0], [5.0]], [0, 2], [0, 0]).numpy()\n"
        "array([[3.]], dtype=float32)"
    ),
    "sparse_segment_sqrt_n": (
        ">>> tf.sparse.segment_sqrt_n([[1.0], [3.0], [5.0]], [0, 2], [0, 0]).numpy().round(3)\n"
        "array([[4.243]], dtype=float32)"
    ),
    "sparse_segment_sum": (
        ">>> tf.sparse.segment_sum([[1, 2], [3, 4], [5, 6]], [0, 2], [0, 0]).numpy()\n"
        "array([[6, 8]], dtype=int32)"
    ),
    "unsorted_segment_max": (
        ">>> tf.math.unsorted_segment_max([1, 5, 2], [1, 0, 1], 2).numpy()\n"
        "array([5, 2], dtype=int32)"
    ),
    "unsorted_segment_mean": (
        ">>> tf.math.unsorted_segment_mean([1.0, 5.0, 2.0], [1, 0, 1], 2).numpy()\n"
        "array([5. , 1.5], dtype=float32)"
    ),
    "unsorted_segment_min": (
        ">>> tf.math.unsorted_segment_min([1, 5, 2], [1, 0, 1], 2).numpy()\n"
        "array([5, 1], dtype=int32)"
    ),
    "unsorted_segment_prod": (
        ">>> tf.math.unsorted_segment_prod([2, 5, 3], [1, 0, 1], 2).numpy()\n"
        "array([5, 6], dtype=int32)"
    ),
    "unsorted_segment_sum": (
        ">>> tf.math.unsorted_segment_sum([1, 5, 2], [1, 0, 1], 2).numpy()\n"
        "array([5, 3], dtype=int32)"
    ),
}
SPECIAL_FUNCTION = {
    "betainc": (">>> tf.math.betainc(1.0, 2.0, 0.5).numpy().round(3)\nnp.float32(0.75)"),
    "digamma": (
        ">>> tf.math.digamma([0.25, 0.5]).numpy().round(3)\narray([-4.227, -1.964], dtype=float32)"
    ),
    "erf": (">>> tf.math.erf([0.25, 0.5]).numpy().round(3)\narray([0.276, 0.52 ], dtype=float32)"),
    "erfc": (
        ">>> tf.math.erfc([0.25, 0.5]).numpy().round(3)\narray([0.724, 0.48 ], dtype=float32)"
    ),
    "erfcinv": (">>> tf.math.erfcinv([0.5]).numpy().round(3)\narray([0.477], dtype=float32)"),
    "erfinv": (
        ">>> tf.math.erfinv([0.25, 0.5]).numpy().round(3)\narray([0.225, 0.477], dtype=float32)"
    ),
    "igamma": (
        ">>> tf.math.igamma([1.0, 2.0], 1.0).numpy().round(3)\narray([0.632, 0.264], dtype=float32)"
    ),
    "igammac": (
        ">>> tf.math.igammac([1.0, 2.0], 1.0).numpy().round(3)\n"
        "array([0.368, 0.736], dtype=float32)"
    ),
    "lbeta": (">>> tf.math.lbeta([1.0, 2.0]).numpy().round(3)\nnp.float32(-0.693)"),
    "lgamma": (
        ">>> tf.math.lgamma([0.25, 0.5]).numpy().round(3)\narray([1.288, 0.572], dtype=float32)"
    ),
    "ndtri": (
        ">>> tf.math.ndtri([0.25, 0.5]).numpy().round(3)\narray([-0.674,  0.   ], dtype=float32)"
    ),
    "polygamma": (">>> tf.math.polygamma(1.0, 1.0).numpy().round(3)\nnp.float32(1.645)"),
    "zeta": (">>> tf.math.zeta(2.0, 1.0).numpy().round(3)\nnp.float32(1.645)"),
}
NO_NAN = {
    "divide_no_nan": (
        ">>> tf.math.divide_no_nan([1.0, 0.0], [4.0, 0.0]).numpy()\n"
        "array([0.25, 0.  ], dtype=float32)"
    ),
    "multiply_no_nan": (
        '>>> tf.math.multiply_no_nan([float("nan"), 2.0], [0.0, 4.0]).numpy()\n'
        "array([0., 8.], dtype=float32)"
    ),
    "reciprocal_no_nan": (
        ">>> tf.math.reciprocal_no_nan([0.0, 4.0]).numpy()\narray([0.  , 0.25], dtype=float32)"
    ),
    "xdivy": (
        ">>> tf.math.xdivy([1.0, 0.0], [4.0, 0.0]).numpy()\narray([0.25, 0.  ], dtype=float32)"
    ),
    "xlog1py": (
        ">>> tf.math.xlog1py([0.0, 2.0], [0.0, 1.0]).numpy().round(3)\n"
        "array([0.   , 1.386], dtype=float32)"
    ),
    "xlogy": (
        ">>> tf.math.xlogy([0.0, 2.0], [0.0, 1.0]).numpy().round(3)\narray([0., 0.], dtype=float32)"
    ),
}
