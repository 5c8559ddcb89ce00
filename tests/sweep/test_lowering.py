"""Every kernel, or its lowering, runs compiled on jax.numpy and gives what it gives on NumPy."""

import functools

import numpy as np
import pytest

from gradtape.compile.xla.kernel_namespace import kernel_of
from gradtape.compile.xla.lowering import settings
from tests.sweep.pullback import copied, listed
from tests.sweep.registry import primitives, samples

jax = pytest.importorskip("jax")

OPS = primitives()
SAMPLES = samples()
STRINGS = {"object", "str"}  # what never leaves the host

# Primitives that cannot be lowered; `op.host` says why
ON_HOST = {
    "fresh_normal",
    "fresh_uniform",
    "join_strings",
    "random_binomial",
    "random_gamma",
    "random_poisson",
    "suppress_boxes",
    "suppress_overlaps",
    "where_true",
}


def lowerable(sample):
    return all(np.asarray(a).dtype.name not in STRINGS for a in sample.args)


def test_what_stays_on_the_host_says_why():
    assert {name for name, op in OPS.items() if op.host} == ON_HOST


@pytest.mark.parametrize("name", sorted((set(OPS) & set(SAMPLES)) - ON_HOST))
def test_kernels_run_on_jax(name):
    op = OPS[name]
    chosen = [sample for sample in SAMPLES[name] if lowerable(sample)]
    assert chosen, "give a sample without strings"
    with np.errstate(all="ignore"):
        wanted = [listed(op, op.kernel(*map(copied, s.args), **s.static)) for s in chosen]
    for sample, want in zip(chosen, wanted, strict=True):
        function = functools.partial(kernel_of(op), **sample.static)
        with settings():
            got = listed(op, jax.jit(function)(*map(copied, sample.args)))
        for a, b in zip(got, want, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)
