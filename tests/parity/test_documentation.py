"""The examples of `docs/` give the printed results on TensorFlow too."""

import pytest

from tests.documentation import failures, pages

tensorflow = pytest.importorskip("tensorflow")
PAGES = pages()
OURS = {
    "index.md",
    "func.md",
    "debug.md",
    "explain.md",
}  # pages about what TensorFlow does not have


@pytest.mark.filterwarnings("ignore")  # TensorFlow warns on import
@pytest.mark.parametrize("page", [name for name in PAGES if name not in OURS])
def test_a_page_is_true_of_tensorflow(page):
    assert failures(PAGES[page], tensorflow) == ""
