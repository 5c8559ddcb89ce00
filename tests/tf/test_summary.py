"""tf.summary: when summaries are recorded, and the contents of the event file."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.files.event import Event
from gradtape.files.tensor_proto import array_from_proto
from gradtape.files.tfrecord import read_records


@pytest.fixture
def writer(tmp_path):
    file_writer = tf.summary.create_file_writer(str(tmp_path))
    yield file_writer
    file_writer.close()


def events(tmp_path):
    (path,) = tmp_path.iterdir()
    first, *rest = map(Event.FromString, read_records(path))
    assert first.file_version == "brain.Event:2"
    values = [(event.step, value) for event in rest for value in event.summary.value]
    return [
        (step, v.tag, v.metadata.plugin_data.plugin_name, array_from_proto(v.tensor).tolist())
        for step, v in values
    ]


def test_scalars(tmp_path, writer):
    with writer.as_default():
        assert tf.summary.scalar("loss", 0.5, step=1).numpy()
        with tf.name_scope("train"):
            tf.summary.scalar("loss", tf.constant(3), step=tf.Variable(2))
    assert events(tmp_path) == [(1, "loss", "scalars", 0.5), (2, "train/loss", "scalars", 3.0)]
    (path,) = tmp_path.iterdir()
    assert path.name.startswith("events.out.tfevents.")
    assert path.name.endswith(".v2")


def test_nothing_is_recorded_without_a_writer():
    assert not tf.summary.scalar("loss", 0.5).numpy()
    assert not tf.summary.should_record_summaries().numpy()
    with tf.summary.create_noop_writer().as_default():
        assert not tf.summary.scalar("loss", 0.5, step=1).numpy()


def test_a_step_is_needed(tmp_path, writer):
    tf.summary.experimental.set_step(None)
    with writer.as_default(), pytest.raises(ValueError, match="No step set"):
        tf.summary.scalar("loss", 0.5)
    with writer.as_default(step=5):
        assert tf.summary.experimental.get_step() == 5
        tf.summary.scalar("loss", 0.5)
        tf.summary.experimental.set_step(6)
        tf.summary.scalar("loss", 0.5)
    assert tf.summary.experimental.get_step() is None
    assert [event[0] for event in events(tmp_path)] == [5, 6]


def test_record_if_is_a_condition(tmp_path, writer):
    with writer.as_default():
        for step in range(4):
            with tf.summary.record_if(step % 2 == 0):
                tf.summary.scalar("even", step, step=step)
            with tf.summary.record_if(lambda: False):
                tf.summary.scalar("never", step, step=step)
    assert [event[:2] for event in events(tmp_path)] == [(0, "even"), (2, "even")]


def test_text_histograms_images_and_tensors(tmp_path, writer):
    with writer.as_default():
        tf.summary.text("note", ["a", "b"], step=1)
        tf.summary.histogram("h", [1.0, 2.0, 2.0, 5.0], step=2, buckets=4)
        tf.summary.histogram("same", [2.0, 2.0], step=2, buckets=2)
        tf.summary.histogram("none", [], step=2, buckets=1)
        tf.summary.image("i", np.zeros((5, 2, 3, 1)), step=3)
        tf.summary.write("raw", [1, 2], step=4)
    note, h, same, none, images, raw = events(tmp_path)
    assert note == (1, "note", "text", [b"a", b"b"])
    assert h == (2, "h", "histograms", [[1, 2, 1], [2, 3, 2], [3, 4, 0], [4, 5, 1]])
    assert same[3] == [[2, 2, 0], [2, 2, 2]]
    assert none[3] == [[0, 0, 0]]
    assert images[3][:2] == [b"3", b"2"]
    assert [tf.io.decode_png(text).shape for text in images[3][2:]] == [(2, 3, 1)] * 3
    assert raw == (4, "raw", "", [1, 2])


def test_summaries_in_a_function(tmp_path, writer):
    @tf.function
    def step(x, number):
        with writer.as_default():
            tf.summary.scalar("twice", x * 2, step=number)
            tf.summary.histogram("h", [x, x], step=number, buckets=1)
        return x

    for n in range(3):
        step(tf.constant(float(n)), tf.constant(n, tf.int64))
    writer.flush()
    found = events(tmp_path)
    assert [event for event in found if event[1] == "twice"] == [
        (n, "twice", "scalars", 2.0 * n) for n in range(3)
    ]
    assert [event[3] for event in found if event[1] == "h"] == [[[n, n, 2]] for n in range(3)]


def test_a_scalar_has_no_axes(writer):
    with writer.as_default(), pytest.raises(ValueError, match="Expected scalar shape"):
        tf.summary.scalar("loss", [1.0, 2.0], step=1)


def test_events_are_written_when_the_queue_is_full(tmp_path):
    writer = tf.summary.create_file_writer(tmp_path, max_queue=3, filename_suffix=".x")
    writer.set_as_default(step=0)
    tf.summary.scalar("a", 1)
    tf.summary.scalar("a", 2)
    assert len(events(tmp_path)) == 0
    tf.summary.scalar("a", 3)
    assert len(events(tmp_path)) == 3
    tf.summary.scalar("a", 4)
    tf.summary.flush()
    assert len(events(tmp_path)) == 4
    tf.summary.create_noop_writer().set_as_default()
    tf.summary.experimental.set_step(None)
    writer.close()


def test_a_closed_writer_cannot_be_used(writer):
    writer.close()
    writer.close()
    writer.flush()
    with pytest.raises(RuntimeError, match="already closed"), writer.as_default():
        pass


def test_audio_is_recorded_as_wav_files(writer, tmp_path):
    sound = np.zeros((4, 100, 1), np.float32)
    with writer.as_default():
        assert tf.summary.audio("a", sound, 8000, step=1, description="d")
        assert tf.summary.audio("none", sound[:0], 8000, step=1)
        with pytest.raises(ValueError, match="3 axes"):
            tf.summary.audio("a", sound[0], 8000, step=1)
        with pytest.raises(ValueError, match="encoding"):
            tf.summary.audio("a", sound, 8000, step=1, encoding="mp3")
        with pytest.raises(tf.errors.InvalidArgumentError, match="max_outputs"):
            tf.summary.audio("a", sound, 8000, step=1, max_outputs=-1)
    writer.close()
    (path,) = tmp_path.glob("*")
    found = [v for e in tf.compat.v1.train.summary_iterator(path) for v in e.summary.value]
    first, none = found
    assert (first.metadata.plugin_data.plugin_name, first.metadata.plugin_data.content) == (
        "audio",
        b"\x10\x0b",
    )
    texts = list(first.tensor.string_val)
    assert [dim.size for dim in first.tensor.tensor_shape.dim] == [3, 2]
    assert texts[1::2] == [b"", b"", b""]
    assert tf.audio.decode_wav(texts[0])[0].shape == (100, 1)
    assert [dim.size for dim in none.tensor.tensor_shape.dim] == [0, 2]


def test_events_can_be_read_back(writer, tmp_path):
    with writer.as_default():
        tf.summary.scalar("a", 1.5, step=3)
    writer.close()
    (path,) = tmp_path.glob("*")
    events_ = list(tf.compat.v1.train.summary_iterator(str(path)))
    assert [(e.step, v.tag) for e in events_ for v in e.summary.value] == [(3, "a")]
    records = [tf.compat.v1.Event.FromString(r.numpy()) for r in tf.data.TFRecordDataset(str(path))]
    assert records == events_
    with pytest.raises(tf.errors.NotFoundError):
        list(tf.compat.v1.train.summary_iterator(str(tmp_path / "none")))
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(tf.errors.DataLossError):
        list(tf.compat.v1.train.summary_iterator(str(path)))
