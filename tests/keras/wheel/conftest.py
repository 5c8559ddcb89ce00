"""A pytest plugin for the tests inside Keras's wheel: gradtape stands in for TensorFlow.

`tools/keras_tests.py` loads it by name, before any test file is imported. Some of those files
import `skip_if_backend` from a module called `conftest`, which the wheel does not bring: this one.
"""

import os
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


def pytest_collection_modifyitems(config, items):
    """Keep what is asked for: the ids in the file KERAS_TESTS_ONLY, if there is one."""
    for item in items:
        if item.get_closest_marker("multi_device"):
            item.add_marker(pytest.mark.skip(reason="needs several devices"))
    listed = os.environ.get("KERAS_TESTS_ONLY")
    if listed:
        with open(listed) as file:
            wanted = set(file.read().splitlines())
        config.hook.pytest_deselected(items=[i for i in items if i.nodeid not in wanted])
        items[:] = [i for i in items if i.nodeid in wanted]


def note(word, nodeid):
    """Write an outcome down at once: the process may not live to see the end."""
    with open(OUTCOMES, "a") as file:
        file.write(f"{word}\t{nodeid}\n")


def pytest_runtest_logstart(nodeid, location):
    """A test begins."""
    note("started", nodeid)


def pytest_runtest_logreport(report):
    """A test has passed, failed or been skipped; setup and teardown count."""
    if report.when == "call" or report.outcome != "passed":
        note(report.outcome, report.nodeid)
    crash = getattr(report.longrepr, "reprcrash", None)
    if report.failed and WHY and crash is not None:
        with open(WHY, "a") as file:
            file.write(f"{report.nodeid}\t{crash.path}:{crash.lineno}\t{crash.message!r}\n")


def pytest_sessionfinish(session, exitstatus):
    """Nothing was left out because a file could not be imported or the process died."""
    note("finished", str(int(exitstatus)))
    sys.stdout.flush()
