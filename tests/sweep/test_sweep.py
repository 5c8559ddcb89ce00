"""Every rule of every registered primitive against every property."""

import pytest

from tests.sweep.check import PROPERTIES
from tests.sweep.registry import missing, primitives, samples

OPS = primitives()
SAMPLES = samples()


def test_every_primitive_has_samples_that_reach_its_rules():
    assert missing(OPS, SAMPLES) == set()


def test_every_sample_belongs_to_a_primitive():
    assert set(SAMPLES) - set(OPS) == set()


@pytest.mark.parametrize("name", sorted(set(OPS) & set(SAMPLES)))
@pytest.mark.parametrize("property_name", PROPERTIES)
def test_rules_hold(property_name, name):
    PROPERTIES[property_name](OPS[name], SAMPLES[name])
