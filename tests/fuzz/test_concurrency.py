"""A short run of the tool that checks threads and interrupts."""

import io
import threading

import pytest

from tests.fuzz import concurrency


def test_threads_and_interrupts():
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals come to the main thread only")
    out = io.StringIO()
    arguments = ["--threads", "8", "--calls", "40", "--interrupts", "400"]
    assert concurrency.main(arguments, out) == 0
    assert out.getvalue().count("none torn") == 4


def test_a_wrong_sum_fails(monkeypatch):
    monkeypatch.setattr(
        concurrency, "check_one_function", lambda threads, calls: {"one function": ([1], [2])}
    )
    out = io.StringIO()
    assert concurrency.main(["--calls", "2", "--interrupts", "0"], out) == 1
