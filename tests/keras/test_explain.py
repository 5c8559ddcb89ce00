"""Programs with Keras that lose their gradient, each with the true cause and line."""

from importlib.util import find_spec

import pytest

from tests.explain_programs import find_wrong_answers, list_programs

if find_spec("keras") is None:
    pytest.skip("Keras is not installed", allow_module_level=True)


@pytest.mark.parametrize(
    ("mode", "case"),
    [
        pytest.param(mode, case["id"], marks=pytest.mark.xdist_group(f"keras explain {mode}"))
        for mode in ("cause and line", "repaired")
        for case in list_programs(mode, keras=True)
    ],
)
def test_the_answer_is_right(mode, case, tmp_path_factory):
    folder = tmp_path_factory.getbasetemp() / f"keras explain {mode}"
    folder.mkdir(exist_ok=True)
    assert find_wrong_answers(mode, True, str(folder)).get(case) is None
