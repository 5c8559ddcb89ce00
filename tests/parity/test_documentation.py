"""The examples of `docs/` give on TensorFlow what the pages show."""

import pytest

from tests.documentation import failures, pages

tensorflow = pytest.importorskip("tensorflow")
WRITTEN = pages()


@pytest.mark.filterwarnings("ignore")  # TensorFlow's own
@pytest.mark.parametrize("page", [name for name in WRITTEN if name != "index.md"])
def test_a_page_is_true_of_tensorflow(page):
    assert failures(WRITTEN[page], tensorflow) == ""
