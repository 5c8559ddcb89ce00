"""Every kernel, or its lowering, runs compiled on jax.numpy and gives what it gives on NumPy."""

import functools
import sys

import numpy as np
import pytest

from tests.sweep.pullback import copied, listed
from tests.sweep.registry import primitives, samples

jax = pytest.importorskip("jax")

OPS = primitives()
SAMPLES = samples()
HOST = {"object", "str"}  # what never leaves the host: strings


@pytest.fixture
def on_jax(monkeypatch):
    """Within the test the global `np` of all kernels is jax.numpy."""
    jax.config.update("jax_enable_x64", True)
    for name, module in list(sys.modules.items()):
        if name.startswith("gradtape.ops.") and getattr(module, "np", None) is np:
            monkeypatch.setattr(module, "np", jax.numpy)


def lowerable(sample):
    return all(np.asarray(a).dtype.name not in HOST for a in sample.args)


@pytest.mark.parametrize("name", sorted(set(OPS) & set(SAMPLES)))
def test_kernels_run_on_jax(name, request):
    op = OPS[name]
    chosen = [sample for sample in SAMPLES[name] if lowerable(sample)]
    wanted = [listed(op, op.kernel(*map(copied, s.args), **s.static)) for s in chosen]
    request.getfixturevalue("on_jax")
    for sample, want in zip(chosen, wanted, strict=True):
        function = functools.partial(op.lowering or op.kernel, **sample.static)
        got = listed(op, jax.jit(function)(*map(copied, sample.args)))
        for a, b in zip(got, want, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)
