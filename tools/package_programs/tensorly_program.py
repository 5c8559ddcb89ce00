"""A tensor decomposition."""

import numpy as np
import tensorly as tl
from tensorly.decomposition import parafac

tl.set_backend("tensorflow")
x = tl.tensor(np.arange(24.0).reshape(2, 3, 4))
print(
    float(tl.norm(tl.cp_to_tensor(parafac(x, 2, init="svd", n_iter_max=20)) - x)) < 1.0,
    float(tl.norm(x)),
)
