"""tf.linalg: matrix products, decompositions, solvers, diagonals and norms."""

from gradtape.tf.array.creation import eye as eye
from gradtape.tf.linalg import experimental as experimental
from gradtape.tf.linalg.band_matrix import banded_triangular_solve as banded_triangular_solve
from gradtape.tf.linalg.band_matrix import eigh_tridiagonal as eigh_tridiagonal
from gradtape.tf.linalg.band_matrix import tridiagonal_matmul as tridiagonal_matmul
from gradtape.tf.linalg.band_matrix import tridiagonal_solve as tridiagonal_solve
from gradtape.tf.linalg.decomposition import cholesky as cholesky
from gradtape.tf.linalg.decomposition import det as det
from gradtape.tf.linalg.decomposition import eig as eig
from gradtape.tf.linalg.decomposition import eigh as eigh
from gradtape.tf.linalg.decomposition import eigvals as eigvals
from gradtape.tf.linalg.decomposition import eigvalsh as eigvalsh
from gradtape.tf.linalg.decomposition import inv as inv
from gradtape.tf.linalg.decomposition import logdet as logdet
from gradtape.tf.linalg.decomposition import lu as lu
from gradtape.tf.linalg.decomposition import qr as qr
from gradtape.tf.linalg.decomposition import slogdet as slogdet
from gradtape.tf.linalg.decomposition import svd as svd
from gradtape.tf.linalg.diagonal import band_part as band_part
from gradtape.tf.linalg.diagonal import diag as diag
from gradtape.tf.linalg.diagonal import diag_part as diag_part
from gradtape.tf.linalg.diagonal import set_diag as set_diag
from gradtape.tf.linalg.diagonal import tensor_diag as tensor_diag
from gradtape.tf.linalg.diagonal import tensor_diag_part as tensor_diag_part
from gradtape.tf.linalg.diagonal import trace as trace
from gradtape.tf.linalg.einsum import einsum as einsum
from gradtape.tf.linalg.einsum import tensordot as tensordot
from gradtape.tf.linalg.linear_operator import LinearOperator as LinearOperator
from gradtape.tf.linalg.linear_operator import LinearOperatorAdjoint as LinearOperatorAdjoint
from gradtape.tf.linalg.linear_operator import LinearOperatorBlockDiag as LinearOperatorBlockDiag
from gradtape.tf.linalg.linear_operator import (
    LinearOperatorBlockLowerTriangular as LinearOperatorBlockLowerTriangular,
)
from gradtape.tf.linalg.linear_operator import LinearOperatorCirculant as LinearOperatorCirculant
from gradtape.tf.linalg.linear_operator import (
    LinearOperatorCirculant2D as LinearOperatorCirculant2D,
)
from gradtape.tf.linalg.linear_operator import (
    LinearOperatorCirculant3D as LinearOperatorCirculant3D,
)
from gradtape.tf.linalg.linear_operator import (
    LinearOperatorComposition as LinearOperatorComposition,
)
from gradtape.tf.linalg.linear_operator import LinearOperatorDiag as LinearOperatorDiag
from gradtape.tf.linalg.linear_operator import LinearOperatorFullMatrix as LinearOperatorFullMatrix
from gradtape.tf.linalg.linear_operator import (
    LinearOperatorHouseholder as LinearOperatorHouseholder,
)
from gradtape.tf.linalg.linear_operator import LinearOperatorIdentity as LinearOperatorIdentity
from gradtape.tf.linalg.linear_operator import LinearOperatorInversion as LinearOperatorInversion
from gradtape.tf.linalg.linear_operator import LinearOperatorKronecker as LinearOperatorKronecker
from gradtape.tf.linalg.linear_operator import (
    LinearOperatorLowerTriangular as LinearOperatorLowerTriangular,
)
from gradtape.tf.linalg.linear_operator import (
    LinearOperatorLowRankUpdate as LinearOperatorLowRankUpdate,
)
from gradtape.tf.linalg.linear_operator import (
    LinearOperatorPermutation as LinearOperatorPermutation,
)
from gradtape.tf.linalg.linear_operator import (
    LinearOperatorScaledIdentity as LinearOperatorScaledIdentity,
)
from gradtape.tf.linalg.linear_operator import LinearOperatorToeplitz as LinearOperatorToeplitz
from gradtape.tf.linalg.linear_operator import LinearOperatorTridiag as LinearOperatorTridiag
from gradtape.tf.linalg.linear_operator import LinearOperatorZeros as LinearOperatorZeros
from gradtape.tf.linalg.matmul import adjoint as adjoint
from gradtape.tf.linalg.matmul import cross as cross
from gradtape.tf.linalg.matmul import matmul as matmul
from gradtape.tf.linalg.matmul import matrix_transpose as matrix_transpose
from gradtape.tf.linalg.matmul import matvec as matvec
from gradtape.tf.linalg.matrix_function import expm as expm
from gradtape.tf.linalg.matrix_function import logm as logm
from gradtape.tf.linalg.matrix_function import matrix_rank as matrix_rank
from gradtape.tf.linalg.matrix_function import sqrtm as sqrtm
from gradtape.tf.linalg.norm import norm as norm
from gradtape.tf.linalg.norm import normalize as normalize
from gradtape.tf.linalg.solve import cholesky_solve as cholesky_solve
from gradtape.tf.linalg.solve import lstsq as lstsq
from gradtape.tf.linalg.solve import lu_matrix_inverse as lu_matrix_inverse
from gradtape.tf.linalg.solve import lu_reconstruct as lu_reconstruct
from gradtape.tf.linalg.solve import lu_solve as lu_solve
from gradtape.tf.linalg.solve import pinv as pinv
from gradtape.tf.linalg.solve import solve as solve
from gradtape.tf.linalg.solve import triangular_solve as triangular_solve
from gradtape.tf.math.clip import global_norm as global_norm
from gradtape.tf.math.reduce import l2_normalize as l2_normalize
