"""Every kernel or lowering, compiled by JAX, gives the same result as on NumPy."""

import functools

import numpy as np
import pytest

from gradtape.compile.xla.kernel_namespace import jax_kernel_of
from gradtape.compile.xla.lowering import jax_settings
from tests.sweep.pullback import as_tuple, copy_raw
from tests.sweep.registry import primitives, samples

jax = pytest.importorskip("jax")

OPS = primitives()
SAMPLES = samples()
STRINGS = {"object", "str"}  # dtypes that never leave the host

# Primitives that cannot be lowered; `op.host` gives the reason
ON_HOST = {
    "all_reduce",
    "broadcast",
    "fresh_normal",
    "fresh_uniform",
    "join_strings",
    "perturbed_solve",
    "random_binomial",
    "random_gamma",
    "random_poisson",
    "suppress_boxes",
    "suppress_overlaps",
    "where_true",
}


def lowerable(sample):
    return all(np.asarray(a).dtype.name not in STRINGS for a in sample.args)


def test_ops_that_stay_on_the_host_give_a_reason():
    assert {name for name, op in OPS.items() if op.host_reason} == ON_HOST


@pytest.mark.parametrize("name", sorted((set(OPS) & set(SAMPLES)) - ON_HOST))
def test_kernels_run_on_jax(name):
    op = OPS[name]
    chosen = [sample for sample in SAMPLES[name] if lowerable(sample)]
    assert chosen, "give a sample without strings"
    with np.errstate(all="ignore"):
        wanted = [as_tuple(op, op.kernel(*map(copy_raw, s.args), **s.static)) for s in chosen]
    for sample, want in zip(chosen, wanted, strict=True):
        function = functools.partial(jax_kernel_of(op), **sample.static)
        with jax_settings():
            got = as_tuple(op, jax.jit(function)(*map(copy_raw, sample.args)))
        for a, b in zip(got, want, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)
