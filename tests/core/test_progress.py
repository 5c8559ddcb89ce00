"""Progress bars appear only in notebooks that ask for them, and change no result."""

import sys
from types import ModuleType

import numpy as np
import pytest

import gradtape as tf
from gradtape.core.progress import ProgressBars, track_progress
from gradtape.tape import jacobian


@pytest.fixture
def bars(monkeypatch):
    """The labels of the bars that are made."""
    made = []

    def tqdm(items, total, desc, leave):
        made.append((desc, total))
        return items

    package, module = ModuleType("tqdm"), ModuleType("tqdm.auto")
    module.tqdm = tqdm
    monkeypatch.setitem(sys.modules, "tqdm", package)
    monkeypatch.setitem(sys.modules, "tqdm.auto", module)
    return made


def make_jacobian():
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x**2
    return tape.jacobian(y, x).numpy()


def test_a_jacobian_in_chunks_shows_a_bar(monkeypatch, bars):
    monkeypatch.setattr(ProgressBars, "is_shown", True)
    monkeypatch.setattr(jacobian, "CHUNK_BYTES", 1)
    np.testing.assert_array_equal(make_jacobian(), np.diag([2.0, 4.0, 6.0]))
    assert bars == [("jacobian", 3)]


def test_one_chunk_shows_no_bar(monkeypatch, bars):
    monkeypatch.setattr(ProgressBars, "is_shown", True)
    make_jacobian()
    assert bars == []


def test_there_is_no_bar_by_default(monkeypatch, bars):
    monkeypatch.setattr(jacobian, "CHUNK_BYTES", 1)
    make_jacobian()
    assert bars == []


def test_without_tqdm_the_items_come_as_they_are(monkeypatch):
    monkeypatch.setattr(ProgressBars, "is_shown", True)
    monkeypatch.setitem(sys.modules, "tqdm", None)
    assert track_progress([1, 2], 2, "work") == [1, 2]
