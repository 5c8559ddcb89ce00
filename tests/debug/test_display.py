"""What tapes and functions show: summaries, memory, drawings and HTML."""

import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import gradtape as tf
from gradtape import debug
from gradtape.debug.layout import lay_out

W = tf.Variable(np.ones((32, 16), "float32"), name="w")
PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
X = tf.constant(np.ones((8, 32), "float32"))


def record(**options):
    with tf.GradientTape(**options) as tape:
        with tf.name_scope("dense"):
            hidden = tf.tanh(X @ W + 1.0)
        with tf.name_scope("loss"):
            loss = tf.reduce_mean(hidden**2)
    return tape, loss


def test_a_summary_lists_ops_shapes_and_saved_bytes():
    tape, _ = record()
    summary = tape.summary()
    assert [row.name for row in summary.rows] == ["matmul", "add", "tanh", "power", "reduce_mean"]
    assert summary.rows[2].shape == (8, 16)
    assert summary.total == debug.saved_bytes(tape) == sum(row.saved for row in summary.rows)
    assert sum(map(summary.share, summary.rows)) == pytest.approx(1.0)
    text = str(summary)
    assert "5 ops" in text
    assert "tanh" in text


def test_lines_and_scopes_are_known_inside_record_lines():
    with debug.record_lines():
        tape, loss = record()
    rows = tape.summary().rows
    assert [row.scope for row in rows] == ["dense"] * 3 + ["loss"] * 2
    assert all(re.search(r"test_display\.py:\d+$", row.line) for row in rows)
    assert [row.shape for row in rows] == [(8, 16)] * 4 + [()]
    assert list(tape.memory().by_scope) == ["dense"]
    want_tape, want = record()
    np.testing.assert_array_equal(tape.gradient(loss, W), want_tape.gradient(want, W))


def test_record_lines_changes_no_gradient():
    @tf.custom_gradient
    def triple(x):
        return x * 3, lambda g: g * 5

    compiled = tf.function(lambda x: tf.sin(x) * W)
    x = tf.ones((32, 16))
    with debug.record_lines(), tf.GradientTape() as tape:
        tape.watch(x)
        parts = tf.split(triple(x), 2)
        y = tf.reduce_sum(compiled(x)) + tf.reduce_sum(parts[0] * parts[1])
    with tf.GradientTape() as plain:
        plain.watch(x)
        parts = tf.split(triple(x), 2)
        want = tf.reduce_sum(compiled(x)) + tf.reduce_sum(parts[0] * parts[1])
    assert "call of a tf.function" in str(tape.summary())
    np.testing.assert_array_equal(tape.gradient(y, x), plain.gradient(want, x))


def test_memory_is_counted_once_and_by_op():
    tape, _ = record()
    memory = tape.memory()
    assert int(memory) == memory.total == 8 * 32 * 4 + 8 * 16 * 4
    assert memory.by_op == {"matmul": 1024, "tanh": 512}
    assert "kept alive" in str(memory)


def test_a_tape_that_is_used_up_holds_nothing():
    tape, loss = record()
    tape.gradient(loss, W)
    assert tape.memory().total == 0
    assert tape.summary().rows == []
    assert "<svg" in tape.draw()


def boxes_in(svg):
    return svg.count("<g><title>")


def test_a_drawing_has_a_box_for_each_scope(tmp_path):
    with debug.record_lines():
        tape, _ = record()
    path = tmp_path / "tape.svg"
    svg = tape.draw(path)
    assert path.read_text(encoding="utf-8") == svg
    ElementTree.fromstring(svg)
    assert re.findall(r"<title>(.*?)</title>", svg) == ["dense", "loss"]
    page = tape.draw(tmp_path / "tape.html")
    assert "<details>" in page


def test_a_drawing_of_many_ops_has_at_most_sixty_boxes():
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in range(3000):
            y = tf.sin(y) + x
    svg = tape.draw()
    ElementTree.fromstring(svg)
    assert 30 <= boxes_in(svg) <= 61


def test_functions_are_drawn():
    function = tf.function(lambda x: tf.reduce_sum(tf.tanh(x @ W)))
    with pytest.raises(ValueError, match="must have a graph"):
        debug.draw(function)
    function(X)
    svg = debug.draw(function)
    assert "tanh" in svg
    assert boxes_in(debug.draw(function.get_concrete_function(X))) == boxes_in(svg)
    with pytest.raises(TypeError, match="expected a GradientTape"):
        debug.draw(3)


@pytest.mark.parametrize(
    "thing",
    [
        X,
        tf.constant("text"),
        tf.zeros((0, 3)),
        W,
        record()[0],
        tf.function(lambda x: x),
        tf.data.Dataset.range(3),
    ],
)
def test_html_is_well_formed(thing):
    html = thing._repr_html_()
    assert html.startswith('<div class="gt-page">')
    ElementTree.fromstring(html)


def test_boxes_of_a_layer_do_not_overlap_and_edges_point_down():
    rng = np.random.default_rng(0)
    inputs = [sorted({int(i) for i in rng.integers(0, k, 2)}) if k else [] for k in range(50)]
    layout = lay_out([(float(rng.integers(40, 200)), 50.0)] * 50, inputs)
    layers = {}
    for slot in layout.slots:
        layers.setdefault(slot.layer, []).append(slot)
    for slots in layers.values():
        slots.sort(key=lambda slot: slot.x)
        for a, b in pairwise(slots):
            assert a.x + a.width / 2 <= b.x - b.width / 2 + 1e-6
    for edge in layout.edges:
        ys = [layout.slots[k].y for k in edge]
        assert ys == sorted(ys)


CHROMIUM = [
    "chromium",
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
needs_chromium = pytest.mark.skipif(
    shutil.which("chromium") is None, reason="Chromium is not installed"
)
# Counts texts that leave their box, and boxes: a text belongs to the box around its centre.
MEASURE = """<script>
const boxes = [...document.querySelectorAll("rect")].map(r => r.getBoundingClientRect());
const big = boxes.filter(b => b.width > 20);
const outside = [...document.querySelectorAll("text")].map(t => t.getBoundingClientRect()).filter(
  t => !big.some(b => t.left >= b.left - 1 && t.right <= b.right + 1 && t.top >= b.top - 1
                      && t.bottom <= b.bottom + 1));
document.title = `${big.length} boxes, ${outside.length} outside`;
</script>"""


def run_chromium(tmp_path, *arguments):
    command = [*CHROMIUM, f"--user-data-dir={tmp_path / 'profile'}", *arguments]
    done = subprocess.run(command, check=True, capture_output=True, timeout=120, text=True)
    return done.stdout


@needs_chromium
@pytest.mark.parametrize("name", ["mlp", "lstm", "resnet", "transformer"])
def test_in_a_browser_every_text_of_a_picture_is_inside_its_box(name, tmp_path):
    picture = (PICTURES / f"{name}.svg").read_text(encoding="utf-8")
    page = tmp_path / "page.html"
    page.write_text(f"<!doctype html><meta charset=utf-8>{picture}{MEASURE}", encoding="utf-8")
    shown = run_chromium(tmp_path, "--dump-dom", page.as_uri())
    boxes, outside = re.search(r"<title>(\d+) boxes, (\d+) outside</title>", shown).groups()
    assert int(outside) == 0
    assert 2 < int(boxes) <= 60


def test_layers_are_named_by_their_variables():
    first = tf.Variable(np.ones((4, 4), "float32"), name="net/first/kernel")
    second = tf.Variable(np.ones((4, 4), "float32"), name="net/second/kernel")
    with tf.GradientTape() as tape:
        hidden = tf.tanh(tf.ones((2, 4)) @ tf.identity(first))
        loss = tf.reduce_sum(hidden @ tf.identity(second))
    drawn = tape.draw()
    assert loss.shape == ()
    titles = re.findall(r'<text class="title"[^>]*>([^<]+)<', drawn)
    assert titles == ["first", "second"]
    assert "identity" not in drawn
    assert "?" not in "".join(re.findall(r"<text[^>]*>([^<]+)<", drawn))


def test_a_concrete_function_shows_its_graph():
    function = tf.function(lambda x: tf.tanh(x) + 1.0)
    html = function.get_concrete_function(tf.TensorSpec([2], tf.float32))._repr_html_()
    ElementTree.fromstring(html)
    assert "tanh" in html


@needs_chromium
def test_a_browser_renders_the_drawing(tmp_path):
    with debug.record_lines():
        tape, _ = record()
    tape.draw(tmp_path / "tape.html")
    size = "--window-size=500,500"
    run_chromium(
        tmp_path, size, f"--screenshot={tmp_path / 'out.png'}", str(tmp_path / "tape.html")
    )
    from PIL import Image

    pixels = np.asarray(Image.open(tmp_path / "out.png").convert("L"))
    assert len(np.unique(pixels)) > 20
