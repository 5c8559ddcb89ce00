"""The benchmark runs, checks gradtape against hand-written NumPy, and reports differences."""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
TIMEOUT = 600  # seconds; a busy machine is slow


def run_benchmark(folder, *options, script=BENCHMARKS / "run.py"):
    file = folder / "results.json"
    command = [sys.executable, str(script), "--json", str(file), *options]
    command += ["--rounds", "1", "--seconds", "0.001", "--peers", "gradtape", "numpy"]
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", timeout=TIMEOUT, check=False
    )
    return done, json.loads(file.read_text()) if file.exists() else None


def test_every_workload_agrees_with_numpy(tmp_path):
    done, saved = run_benchmark(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {"cpu", "threads", "date"} <= set(saved["machine"])
    for row, cells in saved["results"].items():
        assert isinstance(cells["gradtape"], float), row


def test_compiled_workloads_agree_with_numpy_at_the_first_and_the_third_call(tmp_path):
    done, saved = run_benchmark(tmp_path, "--compiled")
    assert done.returncode == 0, done.stdout + done.stderr
    assert saved["mode"] == "compiled"
    for row, cells in saved["results"].items():
        assert isinstance(cells["gradtape"], float), row
    for row, cells in saved["calls"].items():
        assert len(cells["gradtape"]) == 2, row


def test_the_report_is_made_from_the_saved_results(tmp_path):
    _, saved = run_benchmark(tmp_path, "--only", "tiny", "--only", "import")
    page = tmp_path / "page.md"
    command = [sys.executable, str(BENCHMARKS / "report.py"), str(tmp_path / "results.json")]
    subprocess.run([*command, "--page", str(page)], check=True, timeout=TIMEOUT)
    text = page.read_text(encoding="utf-8")
    assert saved["machine"]["date"] in text
    assert f"numpy {saved['versions']['numpy']['numpy']}" in text
    assert "| MLP tiny" in text
    assert "| import" in text
    assert "## Summary (run of " in text  # the notes describe another run


def test_a_wrong_result_is_left_out_and_named(tmp_path):
    folder = tmp_path / "benchmarks"
    subprocess.run(["cp", "-r", str(BENCHMARKS), str(folder)], check=True)
    file = folder / "workloads" / "in_numpy" / "basics.py"
    file.write_text(file.read_text().replace("g += 2 * x", "g += 3 * x"))
    done, saved = run_benchmark(tmp_path, "--only", "elementwise", script=folder / "run.py")
    assert done.returncode == 1
    assert "differ" in done.stderr
    assert saved["results"]["elementwise 10^6"]["gradtape"] == "differs"


def table_rows(text, heading):
    """Rows of the first table below `heading`, as lists of cells."""
    table = text.partition(heading)[2].strip().partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]


def test_the_readme_quotes_the_page():
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    times = {}
    for mode, heading in [
        ("eager", "### Times: eager, one core"),
        ("compiled", "### Times: compiled, one core"),
    ]:
        header, _, *rows = table_rows(page, heading)
        times |= {
            (mode, row[0], name): cell
            for row in rows
            for name, cell in zip(header, row, strict=True)
        }
    _, _, *rows = table_rows(readme, "<!-- quoted from docs/benchmarks.md -->")
    assert 1 <= len(rows) <= 8
    names = ("gradtape", "tensorflow", "torch"), ("gradtape", "tensorflow", "torch", "jax")
    columns = [
        (mode, name)
        for mode, names in zip(("eager", "compiled"), names, strict=True)
        for name in names
    ]
    for what, *cells in rows:
        row = re.search(r"\((.+)\)$", what)[1] if what.endswith(")") else what
        assert cells == [times.get((mode, row, name), "–") for mode, name in columns], what


def test_the_page_holds_the_notes_of_its_run():
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    date, _, notes = (BENCHMARKS / "notes.md").read_text(encoding="utf-8").partition("\n")
    assert date.removeprefix("Run: ") in page
    assert notes.strip() in page
