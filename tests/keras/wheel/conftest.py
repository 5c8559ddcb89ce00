"""A pytest plugin for the tests inside Keras's wheel, which runs them on gradtape.

`tools/keras_tests.py` loads it by name, before any test file is imported. Some of those files
import `skip_if_backend` from a module named `conftest`. The wheel lacks it; this is the one.
"""

import os
import re
import sys

import pytest

import gradtape

os.environ["KERAS_BACKEND"] = "tensorflow"
gradtape.install()

WHY = os.environ.get("KERAS_TESTS_WHY")
OUTCOMES = os.environ.get("KERAS_TESTS_OUTCOMES", os.devnull)


def skip_if_backend(given_backend, reason):
    """A mark that skips a test on one of Keras's backends."""
    return pytest.mark.skipif(given_backend == "tensorflow", reason=reason)


def pytest_configure(config):
    """Register the marks that the tests carry."""
    config.addinivalue_line("markers", "requires_trainable_backend: needs gradients")
    config.addinivalue_line("markers", "multi_device: needs several devices")


def remove_addresses(nodeid):
    """The id without the addresses of objects, which differ between processes."""
    return re.sub(r"0x[0-9a-f]{6,}", "", nodeid)


def pytest_collection_modifyitems(config, items):
    """Run only the ids in the file KERAS_TESTS_ONLY, if it is set; skip multi-device tests."""
    for item in items:
        if item.get_closest_marker("multi_device"):
            item.add_marker(pytest.mark.skip(reason="needs several devices"))
    listed = os.environ.get("KERAS_TESTS_ONLY")
    if listed:
        with open(listed) as file:
            wanted = set(file.read().splitlines())
        chosen = [i for i in items if remove_addresses(i.nodeid) in wanted]
        config.hook.pytest_deselected(items=[i for i in items if i not in chosen])
        items[:] = chosen


def note(word, nodeid):
    """Append an outcome to the file at once, because the process may crash."""
    with open(OUTCOMES, "a") as file:
        file.write(f"{word}\t{remove_addresses(nodeid)}\n")


def pytest_runtest_logstart(nodeid, location):
    """Record the start of a test."""
    note("started", nodeid)


def pytest_runtest_logreport(report):
    """Record the outcome of a test; failures of setup and teardown count."""
    if report.when == "call" or report.outcome != "passed":
        note(report.outcome, report.nodeid)
    crash = getattr(report.longrepr, "reprcrash", None)
    if report.failed and WHY and crash is not None:
        with open(WHY, "a") as file:
            file.write(f"{report.nodeid}\t{crash.path}:{crash.lineno}\t{crash.message!r}\n")


def pytest_sessionfinish(session, exitstatus):
    """Record that the session ended without a crash, with its exit status."""
    note("finished", str(int(exitstatus)))
    sys.stdout.flush()
