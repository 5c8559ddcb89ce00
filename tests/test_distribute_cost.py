"""The table of the cost model on the page is what the script prints."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_page_has_the_scripts_table():
    path = ROOT / "benchmarks" / "distribute_cost.py"
    spec = importlib.util.spec_from_file_location("distribute_cost", path)
    cost = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(cost)
    page = (ROOT / "docs" / "distribute.md").read_text(encoding="utf-8")
    assert cost.make_table(cost.make_rows()) in page
