"""tf.profiler and tf.summary traces raise TensorFlow's errors, and write nothing."""

import os

import pytest

import gradtape as tf

profiler = tf.profiler.experimental


def test_the_profiler_is_started_and_stopped(tmp_path):
    with pytest.raises(tf.errors.UnavailableError, match="No profiler"):
        profiler.stop()
    profiler.start(str(tmp_path))
    with pytest.raises(tf.errors.AlreadyExistsError, match="Another profiler"):
        profiler.start(str(tmp_path))
    profiler.stop()
    options = profiler.ProfilerOptions(host_tracer_level=3)
    with profiler.Profile(str(tmp_path), options), profiler.Trace("step", step_num=1) as trace:
        trace.set_metadata(more=2)
    assert not os.listdir(tmp_path)


def test_summary_traces_need_trace_on(tmp_path, caplog):
    with pytest.raises(ValueError, match="trace_on"):
        tf.summary.trace_export("name", 0)
    tf.summary.trace_on(graph=True)
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        tf.summary.trace_export("name", step=0)
    assert "no graphs" in caplog.text
    with pytest.raises(ValueError, match="trace_on"):
        tf.summary.trace_export("name", 0)
    tf.summary.trace_on()
    tf.summary.trace_off()
    with pytest.raises(ValueError, match="trace_on"):
        tf.summary.trace_export("name", 0)
    f = tf.function(lambda x: (tf.summary.trace_on(), tf.summary.trace_export("name"), x)[2])
    assert float(f(1.0)) == 1.0
