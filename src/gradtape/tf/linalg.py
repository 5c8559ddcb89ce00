"""tf.linalg: matrix products, decompositions, solvers, diagonals and norms."""

from gradtape.tf import linalg_experimental
from gradtape.tf.banded import banded_triangular_solve as banded_triangular_solve
from gradtape.tf.banded import eigh_tridiagonal as eigh_tridiagonal
from gradtape.tf.banded import tridiagonal_matmul as tridiagonal_matmul
from gradtape.tf.banded import tridiagonal_solve as tridiagonal_solve
from gradtape.tf.clip import global_norm as global_norm
from gradtape.tf.contraction import einsum as einsum
from gradtape.tf.contraction import tensordot as tensordot
from gradtape.tf.creation import eye as eye
from gradtape.tf.decomposition import cholesky as cholesky
from gradtape.tf.decomposition import det as det
from gradtape.tf.decomposition import eig as eig
from gradtape.tf.decomposition import eigh as eigh
from gradtape.tf.decomposition import eigvals as eigvals
from gradtape.tf.decomposition import eigvalsh as eigvalsh
from gradtape.tf.decomposition import expm as expm
from gradtape.tf.decomposition import inv as inv
from gradtape.tf.decomposition import logdet as logdet
from gradtape.tf.decomposition import logm as logm
from gradtape.tf.decomposition import lu as lu
from gradtape.tf.decomposition import matrix_rank as matrix_rank
from gradtape.tf.decomposition import qr as qr
from gradtape.tf.decomposition import slogdet as slogdet
from gradtape.tf.decomposition import sqrtm as sqrtm
from gradtape.tf.decomposition import svd as svd
from gradtape.tf.diagonal import band_part as band_part
from gradtape.tf.diagonal import diag as diag
from gradtape.tf.diagonal import diag_part as diag_part
from gradtape.tf.diagonal import set_diag as set_diag
from gradtape.tf.diagonal import tensor_diag as tensor_diag
from gradtape.tf.diagonal import tensor_diag_part as tensor_diag_part
from gradtape.tf.diagonal import trace as trace
from gradtape.tf.linear_operator import LinearOperator as LinearOperator
from gradtape.tf.linear_operator import LinearOperatorAdjoint as LinearOperatorAdjoint
from gradtape.tf.linear_operator import LinearOperatorBlockDiag as LinearOperatorBlockDiag
from gradtape.tf.linear_operator import (
    LinearOperatorBlockLowerTriangular as LinearOperatorBlockLowerTriangular,
)
from gradtape.tf.linear_operator import LinearOperatorCirculant as LinearOperatorCirculant
from gradtape.tf.linear_operator import LinearOperatorCirculant2D as LinearOperatorCirculant2D
from gradtape.tf.linear_operator import LinearOperatorCirculant3D as LinearOperatorCirculant3D
from gradtape.tf.linear_operator import LinearOperatorComposition as LinearOperatorComposition
from gradtape.tf.linear_operator import LinearOperatorDiag as LinearOperatorDiag
from gradtape.tf.linear_operator import LinearOperatorFullMatrix as LinearOperatorFullMatrix
from gradtape.tf.linear_operator import LinearOperatorHouseholder as LinearOperatorHouseholder
from gradtape.tf.linear_operator import LinearOperatorIdentity as LinearOperatorIdentity
from gradtape.tf.linear_operator import LinearOperatorInversion as LinearOperatorInversion
from gradtape.tf.linear_operator import LinearOperatorKronecker as LinearOperatorKronecker
from gradtape.tf.linear_operator import (
    LinearOperatorLowerTriangular as LinearOperatorLowerTriangular,
)
from gradtape.tf.linear_operator import LinearOperatorLowRankUpdate as LinearOperatorLowRankUpdate
from gradtape.tf.linear_operator import LinearOperatorPermutation as LinearOperatorPermutation
from gradtape.tf.linear_operator import LinearOperatorScaledIdentity as LinearOperatorScaledIdentity
from gradtape.tf.linear_operator import LinearOperatorToeplitz as LinearOperatorToeplitz
from gradtape.tf.linear_operator import LinearOperatorTridiag as LinearOperatorTridiag
from gradtape.tf.linear_operator import LinearOperatorZeros as LinearOperatorZeros
from gradtape.tf.norms import norm as norm
from gradtape.tf.norms import normalize as normalize
from gradtape.tf.product import adjoint as adjoint
from gradtape.tf.product import cross as cross
from gradtape.tf.product import matmul as matmul
from gradtape.tf.product import matrix_transpose as matrix_transpose
from gradtape.tf.product import matvec as matvec
from gradtape.tf.reduction import l2_normalize as l2_normalize
from gradtape.tf.solvers import cholesky_solve as cholesky_solve
from gradtape.tf.solvers import lstsq as lstsq
from gradtape.tf.solvers import lu_matrix_inverse as lu_matrix_inverse
from gradtape.tf.solvers import lu_reconstruct as lu_reconstruct
from gradtape.tf.solvers import lu_solve as lu_solve
from gradtape.tf.solvers import pinv as pinv
from gradtape.tf.solvers import solve as solve
from gradtape.tf.solvers import triangular_solve as triangular_solve

experimental = linalg_experimental
