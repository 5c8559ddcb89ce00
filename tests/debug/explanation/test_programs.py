"""Programs that lose their gradient, each with the true cause and line."""

import pytest

from tests.explain_programs import MODES, find_wrong_answers, list_programs


@pytest.mark.parametrize(
    ("mode", "case"),
    [
        pytest.param(mode, case["id"], marks=pytest.mark.xdist_group(f"explain {mode}"))
        for mode in MODES
        for case in list_programs(mode, keras=False)
    ],
)
def test_the_answer_is_right(mode, case, tmp_path_factory):
    folder = tmp_path_factory.getbasetemp() / f"explain {mode}"
    folder.mkdir(exist_ok=True)
    assert find_wrong_answers(mode, False, str(folder)).get(case) is None


def test_no_program_is_missing():
    counts = [len(list_programs(mode, k)) for mode in MODES for k in (False, True)]
    assert counts == [156, 29, 149, 28, 9, 0]
