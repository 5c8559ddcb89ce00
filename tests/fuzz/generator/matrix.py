"""Statements with matrix products, linear algebra and layers of networks."""

from tests.fuzz.generator.scope import Scope
from tests.fuzz.generator.values import COMPLEX, FLOATS, REALS

# Templates of a well-conditioned matrix M and of a matrix X with as many rows.
DECOMPOSITIONS = [
    *("tf.linalg.cholesky(M)", "tf.linalg.inv(M)", "tf.linalg.det(M)", "tf.linalg.slogdet(M)[1]"),
    *("tf.linalg.logdet(M)", "tf.linalg.solve(M, X)", "tf.linalg.solve(M, X, adjoint=True)"),
    *("tf.linalg.cholesky_solve(tf.linalg.cholesky(M), X)", "tf.linalg.trace(M)"),
    *("tf.linalg.triangular_solve(tf.linalg.cholesky(M), X)", "tf.linalg.diag_part(M)"),
    *("tf.linalg.eigvalsh(M)", "tf.linalg.svd(X, compute_uv=False)", "tf.linalg.qr(M)[1]"),
    *("tf.linalg.band_part(M, 1, 0)", "tf.linalg.set_diag(M, M[..., 0])", "tf.linalg.sqrtm(M)"),
    *("tf.linalg.expm(M * 0.1)", "tf.linalg.lstsq(M, X)", "tf.linalg.pinv(M)", "tf.linalg.norm(M)"),
    *("tf.linalg.adjoint(M) @ M", "tf.linalg.matrix_transpose(X)", "tf.linalg.lu(M)[0]"),
    *(
        "tf.linalg.tensor_diag_part(M)",
        "tf.linalg.matvec(M, M[..., 0])",
        "tf.linalg.global_norm([M])",
    ),
    *(
        "tf.linalg.eigh(M)[0]",
        "tf.linalg.matrix_rank(M)",
        "tf.linalg.matmul(M, X, transpose_a=True)",
    ),
]


def draw_matmul(scope: Scope) -> None:
    """A matrix product, also batched and transposed."""
    name = scope.pick_ranked(2, (*FLOATS, *COMPLEX, "int32"))
    *_, columns = scope.shape(name)
    draw, dtype = scope.draw, scope.dtype(name)
    width = draw.choice(scope.setting.sizes)
    right = scope.constant(dtype, (columns, width))
    same = [
        n for n in scope.names if scope.dtype(n) == dtype and scope.shape(n)[-2:-1] == (columns,)
    ]
    if same and draw.random() < 0.6:
        right = draw.choice(same)
    choices = [f"{name} @ {right}", f"tf.matmul({name}, {right})"]
    choices.append(f"tf.matmul({name}, {name}, transpose_b=True)")
    choices.append(f"tf.matmul({name}, {name}, transpose_a=True)")
    choices.append(f"tf.tensordot({name}, {right}, 1)")
    choices.append(f"tf.einsum('...ij,...kj->...ik', {name}, {name})")
    choices.append(f"tf.einsum('...ij->...j', {name})")
    choices.append(f"tf.linalg.matvec({name}, {scope.constant(dtype, (columns,))})")
    if dtype in COMPLEX:
        choices.append(f"tf.matmul({name}, {name}, adjoint_b=True)")
    scope.add(draw.choice(choices))


def draw_decomposition(scope: Scope) -> None:
    """Linear algebra of a positive definite matrix."""
    name = scope.pick_ranked(2, REALS if scope.draw.random() < 0.9 else (*REALS, *COMPLEX))
    *_, rows, _ = scope.shape(name)
    dtype = scope.dtype(name)
    matrix = scope.add(
        f"0.1 * tf.matmul({name}, {name}, adjoint_b=True) + 2 * tf.eye({rows}, dtype='{dtype}')"
    )
    text = scope.draw.choice(DECOMPOSITIONS)
    names = {"M": matrix, "X": name}
    scope.add("".join(names.get(part, part) for part in text))


def draw_layer(scope: Scope) -> None:
    """A layer of a network: convolution, pooling, losses, normalisation."""
    name = scope.pick_ranked(1, REALS, filled=True)
    draw, dtype = scope.draw, scope.dtype(name)
    shape = scope.shape(name)
    classes = shape[-1]
    rows = f"tf.reshape({name}, [-1, {classes}])"
    image = f"tf.reshape({name}, [1, -1, {classes}, 1])"
    kernel = scope.constant(dtype, (2, 2, 1, 2))
    batch = max(1, int(scope.env[name].numpy().size // classes))
    labels = [draw.randrange(classes) for _ in range(batch)]
    one_hot = f"tf.one_hot({labels}, {classes}, dtype='{dtype}')"
    padding = draw.choice(["'SAME'", "'VALID'"])
    choices = [
        f"tf.nn.conv2d({image}, {kernel}, {draw.randint(1, 2)}, 'SAME')",
        f"tf.nn.conv2d({image}, {kernel}, 1, {padding})",
        f"tf.nn.depthwise_conv2d({image}, {kernel}, [1, 1, 1, 1], 'SAME')",
        f"tf.nn.conv2d_transpose({image}, {scope.constant(dtype, (2, 2, 2, 1))},"
        f" [1, {2 * batch}, {2 * classes}, 2], 2)",
        f"tf.nn.max_pool2d({image}, 2, {draw.randint(1, 2)}, 'SAME')",
        f"tf.nn.avg_pool2d({image}, 2, {draw.randint(1, 2)}, 'SAME')",
        f"tf.nn.sparse_softmax_cross_entropy_with_logits({labels}, {rows})",
        f"tf.nn.softmax_cross_entropy_with_logits({one_hot}, {rows})",
        f"tf.nn.bias_add({rows}, {scope.constant(dtype, (classes,))})",
        f"tf.nn.batch_normalization({rows}, 0.1, 1.5, 0.2, 0.8, 1e-3)",
        f"tf.nn.l2_loss({name})",
        f"tf.nn.local_response_normalization({image})",
        f"tf.image.resize({image}, [3, 4])",
        f"tf.nn.experimental.stateless_dropout({name}, 0.4, seed=[1, {draw.randint(0, 9)}])",
        f"tf.math.in_top_k({labels}, tf.cast({rows}, 'float32'), 1)",
        f"tf.signal.rfft(tf.cast({name}, 'float32'))",
        f"tf.signal.frame({name}, 2, 1)",
    ]
    scope.add(draw.choice(choices))
