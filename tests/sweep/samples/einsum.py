"""Samples for `ops/einsum.py`."""

from tests.sweep.sample import Sample, complex_normal, normal

SAMPLES = {
    "einsum": [
        Sample((normal(2, 3), normal(3, 4)), {"equation": "ij,jk->ik"}),
        Sample((complex_normal(2, 3), complex_normal(3)), {"equation": "ij,j->i"}),
        Sample((normal(2, 3, 2), normal(2, 2, 4)), {"equation": "bij,bjk->kbi"}),
        Sample((normal(2), normal(3)), {"equation": "i,j->ji"}),
        Sample((normal(2, 3), normal(4)), {"equation": "ij,k->k"}),
        Sample((normal(2), normal(2, 3), normal(3)), {"equation": "i,ij,j->"}),
        Sample((normal(2, 3), normal(3, 2), normal(2, 4)), {"equation": "ij,jk,kl->il"}),
        Sample((normal(2, 3, 4),), {"equation": "ijk->ki"}),
        Sample((normal(2, 0), normal(0, 3)), {"equation": "ij,jk->ik"}),
    ],
}
