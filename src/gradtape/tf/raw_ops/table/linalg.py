"""Raw ops of linear algebra and Fourier transforms."""

ROWS = """
BandedTriangularSolve(matrix: T, rhs: T, lower: bool=True, adjoint: bool=False) -> output: T
    where T: matrix
    is tf.linalg.banded_triangular_solve(matrix, rhs, lower=lower, adjoint=adjoint)

BatchMatMul(x: T, y: T, adj_x: bool=False, adj_y: bool=False, grad_x: bool=False, grad_y:
    bool=False) -> output: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int32 | int64
    is raw.matrix_part.multiply_batches(x, y, adj_x, adj_y)

BatchMatMulV2(x: T, y: T, adj_x: bool=False, adj_y: bool=False, grad_x: bool=False, grad_y:
    bool=False) -> output: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | uint16 | uint32 | uint64 | uint8
    is raw.matrix_part.multiply_batches(x, y, adj_x, adj_y)

BatchMatMulV3(x: Ta, y: Tb, Tout: type, adj_x: bool=False, adj_y: bool=False, grad_x:
    bool=False, grad_y: bool=False) -> output: Tout
    where Ta: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8 | uint8; Tb: bfloat16 | complex128 | complex64 | float16 | float32 | float64 |
    int16 | int32 | int64 | int8 | uint8
    is tf.matmul(x, y, adjoint_a=adj_x, adjoint_b=adj_y, output_type=Tout)

Cholesky(input: T) -> output: T
    where T: matrix
    is tf.linalg.cholesky(input)

CholeskyGrad(l: T, grad: T) -> output: T
    where T: float16 | float32 | float64
    is raw.pullback.pull_back_cholesky(l, grad)

Eig(input: T, Tout: type, compute_v: bool=True) -> e: Tout, v: Tout
    where T: full
    is raw.matrix_part.compute_eig(input, Tout, compute_v)

Einsum(inputs: N*T, equation: string) -> output: T
    where N: int; T: any
    is tf.einsum(equation, *inputs)

FFT(input: Tcomplex) -> output: Tcomplex
    where Tcomplex: complex=complex64
    is tf.signal.fft(input)

FFT2D(input: Tcomplex) -> output: Tcomplex
    where Tcomplex: complex=complex64
    is tf.signal.fft2d(input)

FFT3D(input: Tcomplex) -> output: Tcomplex
    where Tcomplex: complex=complex64
    is tf.signal.fft3d(input)

IFFT(input: Tcomplex) -> output: Tcomplex
    where Tcomplex: complex=complex64
    is tf.signal.ifft(input)

IFFT2D(input: Tcomplex) -> output: Tcomplex
    where Tcomplex: complex=complex64
    is tf.signal.ifft2d(input)

IFFT3D(input: Tcomplex) -> output: Tcomplex
    where Tcomplex: complex=complex64
    is tf.signal.ifft3d(input)

IRFFT(input: Tcomplex, fft_length: int32, Treal: type=float32) -> output: Treal
    where Tcomplex: complex=complex64
    is tf.signal.irfft(input, fft_length)

IRFFT2D(input: Tcomplex, fft_length: int32, Treal: type=float32) -> output: Treal
    where Tcomplex: complex=complex64
    is tf.signal.irfft2d(input, fft_length)

IRFFT3D(input: Tcomplex, fft_length: int32, Treal: type=float32) -> output: Treal
    where Tcomplex: complex=complex64
    is tf.signal.irfft3d(input, fft_length)

LogMatrixDeterminant(input: T) -> sign: T, log_abs_determinant: T
    where T: matrix
    is tf.linalg.slogdet(input)

Lu(input: T, output_idx_type: type=int32) -> lu: T, p: output_idx_type
    where T: matrix
    is tf.linalg.lu(input, output_idx_type)

MatMul(a: T, b: T, transpose_a: bool=False, transpose_b: bool=False, grad_a: bool=False, grad_b:
    bool=False) -> product: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int32 | int64 |
    uint16 | uint32 | uint64 | uint8
    is tf.matmul(a, b, transpose_a, transpose_b)

MatrixBandPart(input: T, num_lower: Tindex, num_upper: Tindex) -> band: T
    where T: any; Tindex: index=int64
    is tf.linalg.band_part(input, num_lower, num_upper)

MatrixDeterminant(input: T) -> output: T
    where T: matrix
    is tf.linalg.det(input)

MatrixDiag(diagonal: T) -> output: T
    where T: any
    is tf.linalg.diag(diagonal)

MatrixDiagPart(input: T) -> diagonal: T
    where T: any
    is tf.linalg.diag_part(input)

MatrixDiagPartV2(input: T, k: int32, padding_value: T) -> diagonal: T
    where T: any
    is tf.linalg.diag_part(input, k=k, padding_value=padding_value, align="LEFT_LEFT")

MatrixDiagPartV3(input: T, k: int32, padding_value: T, align: string='RIGHT_LEFT') -> diagonal:
    T
    where T: any
    is tf.linalg.diag_part(input, k=k, padding_value=padding_value, align=align)

MatrixDiagV2(diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T) ->
    output: T
    where T: any
    is tf.linalg.diag(diagonal, k=k, num_rows=num_rows, num_cols=num_cols,
    padding_value=padding_value, align="LEFT_LEFT")

MatrixDiagV3(diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T, align:
    string='RIGHT_LEFT') -> output: T
    where T: any
    is tf.linalg.diag(diagonal, k=k, num_rows=num_rows, num_cols=num_cols,
    padding_value=padding_value, align=align)

MatrixInverse(input: T, adjoint: bool=False) -> output: T
    where T: matrix
    is tf.linalg.inv(input, adjoint)

MatrixLogarithm(input: T) -> output: T
    where T: complex
    is tf.linalg.logm(input)

MatrixSetDiag(input: T, diagonal: T) -> output: T
    where T: any
    is tf.linalg.set_diag(input, diagonal)

MatrixSetDiagV2(input: T, diagonal: T, k: int32) -> output: T
    where T: any
    is tf.linalg.set_diag(input, diagonal, k=k, align="LEFT_LEFT")

MatrixSetDiagV3(input: T, diagonal: T, k: int32, align: string='RIGHT_LEFT') -> output: T
    where T: any
    is tf.linalg.set_diag(input, diagonal, k=k, align=align)

MatrixSolve(matrix: T, rhs: T, adjoint: bool=False) -> output: T
    where T: matrix
    is tf.linalg.solve(matrix, rhs, adjoint)

MatrixSolveLs(matrix: T, rhs: T, l2_regularizer: float64, fast: bool=True) -> output: T
    where T: matrix
    is tf.linalg.lstsq(matrix, rhs, l2_regularizer, fast)

MatrixSquareRoot(input: T) -> output: T
    where T: matrix
    is tf.linalg.sqrtm(input)

MatrixTriangularSolve(matrix: T, rhs: T, lower: bool=True, adjoint: bool=False) -> output: T
    where T: inexact
    is tf.linalg.triangular_solve(matrix, rhs, lower, adjoint)

Qr(input: T, full_matrices: bool=False) -> q: T, r: T
    where T: matrix
    is tf.linalg.qr(input, full_matrices)

RFFT(input: Treal, fft_length: int32, Tcomplex: type=complex64) -> output: Tcomplex
    where Treal: float32 | float64=float32
    is tf.signal.rfft(input, fft_length)

RFFT2D(input: Treal, fft_length: int32, Tcomplex: type=complex64) -> output: Tcomplex
    where Treal: float32 | float64=float32
    is tf.signal.rfft2d(input, fft_length)

RFFT3D(input: Treal, fft_length: int32, Tcomplex: type=complex64) -> output: Tcomplex
    where Treal: float32 | float64=float32
    is tf.signal.rfft3d(input, fft_length)

SelfAdjointEigV2(input: T, compute_v: bool=True) -> e: T, v: T
    where T: matrix
    is raw.matrix_part.compute_eigh(input, compute_v)

SparseMatMul(a: Ta, b: Tb, transpose_a: bool=False, transpose_b: bool=False, a_is_sparse:
    bool=False, b_is_sparse: bool=False) -> product: float32
    where Ta: bfloat16 | float32=float32; Tb: bfloat16 | float32=float32
    is tf.matmul(tf.cast(a, tf.float32), tf.cast(b, tf.float32), transpose_a, transpose_b)

Svd(input: T, compute_uv: bool=True, full_matrices: bool=False) -> s: T, u: T, v: T
    where T: matrix
    is raw.matrix_part.compute_svd(input, compute_uv, full_matrices)

TridiagonalMatMul(superdiag: T, maindiag: T, subdiag: T, rhs: T) -> output: T
    where T: full
    is raw.matrix_part.multiply_tridiagonal(superdiag, maindiag, subdiag, rhs)

TridiagonalSolve(diagonals: T, rhs: T, partial_pivoting: bool=True, perturb_singular:
    bool=False) -> output: T
    where T: full
    is tf.linalg.tridiagonal_solve(diagonals, rhs, partial_pivoting=partial_pivoting,
    perturb_singular=perturb_singular)
"""
