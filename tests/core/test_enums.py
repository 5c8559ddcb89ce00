"""The enumerations have TensorFlow's members."""

import pytest

from gradtape.core import enums


@pytest.mark.parametrize(
    ("name", "members"),
    [
        ("UnconnectedGradients", {"NONE": "none", "ZERO": "zero"}),
        ("VariableSynchronization", {"AUTO": 0, "NONE": 1, "ON_WRITE": 2, "ON_READ": 3}),
        ("VariableAggregation", {"NONE": 0, "SUM": 1, "MEAN": 2, "ONLY_FIRST_REPLICA": 3}),
    ],
)
def test_members_and_values(name, members):
    enum = getattr(enums, name)
    assert {member.name: member.value for member in enum} == members
    assert [str(member) for member in enum] == [f"{name}.{member}" for member in members]


def test_a_member_is_found_by_its_value_and_is_not_equal_to_it():
    assert enums.UnconnectedGradients("zero") is enums.UnconnectedGradients.ZERO
    assert enums.UnconnectedGradients.ZERO != "zero"
    with pytest.raises(ValueError, match="'x' is not a valid UnconnectedGradients"):
        enums.UnconnectedGradients("x")
