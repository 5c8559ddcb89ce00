"""Linear operators: matrices with products and solves that exploit their structure."""

from gradtape.tf.linalg.linear_operator.base import LinearOperator as LinearOperator
from gradtape.tf.linalg.linear_operator.block import (
    LinearOperatorBlockDiag as LinearOperatorBlockDiag,
)
from gradtape.tf.linalg.linear_operator.block import (
    LinearOperatorBlockLowerTriangular as LinearOperatorBlockLowerTriangular,
)
from gradtape.tf.linalg.linear_operator.block import (
    LinearOperatorKronecker as LinearOperatorKronecker,
)
from gradtape.tf.linalg.linear_operator.circulant import (
    LinearOperatorCirculant as LinearOperatorCirculant,
)
from gradtape.tf.linalg.linear_operator.circulant import (
    LinearOperatorCirculant2D as LinearOperatorCirculant2D,
)
from gradtape.tf.linalg.linear_operator.circulant import (
    LinearOperatorCirculant3D as LinearOperatorCirculant3D,
)
from gradtape.tf.linalg.linear_operator.circulant import (
    LinearOperatorToeplitz as LinearOperatorToeplitz,
)
from gradtape.tf.linalg.linear_operator.composition import (
    LinearOperatorAdjoint as LinearOperatorAdjoint,
)
from gradtape.tf.linalg.linear_operator.composition import (
    LinearOperatorComposition as LinearOperatorComposition,
)
from gradtape.tf.linalg.linear_operator.composition import (
    LinearOperatorInversion as LinearOperatorInversion,
)
from gradtape.tf.linalg.linear_operator.composition import (
    LinearOperatorLowRankUpdate as LinearOperatorLowRankUpdate,
)
from gradtape.tf.linalg.linear_operator.identity import (
    LinearOperatorIdentity as LinearOperatorIdentity,
)
from gradtape.tf.linalg.linear_operator.identity import (
    LinearOperatorScaledIdentity as LinearOperatorScaledIdentity,
)
from gradtape.tf.linalg.linear_operator.identity import LinearOperatorZeros as LinearOperatorZeros
from gradtape.tf.linalg.linear_operator.matrix import LinearOperatorDiag as LinearOperatorDiag
from gradtape.tf.linalg.linear_operator.matrix import (
    LinearOperatorFullMatrix as LinearOperatorFullMatrix,
)
from gradtape.tf.linalg.linear_operator.matrix import (
    LinearOperatorHouseholder as LinearOperatorHouseholder,
)
from gradtape.tf.linalg.linear_operator.matrix import (
    LinearOperatorLowerTriangular as LinearOperatorLowerTriangular,
)
from gradtape.tf.linalg.linear_operator.matrix import LinearOperatorTridiag as LinearOperatorTridiag
from gradtape.tf.linalg.linear_operator.permutation import (
    LinearOperatorPermutation as LinearOperatorPermutation,
)
