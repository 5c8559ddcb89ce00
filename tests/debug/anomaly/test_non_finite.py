"""The programs of `non_finite.txt`: where the first NaN or infinity arose."""

import re
import sys
import types
import warnings
from pathlib import Path

import pytest

import gradtape as tf
from gradtape import debug

MARK = re.compile(r"\s*#([!~]) ([\w,]+)(?: (forward|backward))?")
MENDED = re.compile(r"\s*#= (.*)$")


def read_programs():
    text = Path(__file__).with_name("non_finite.txt").read_text(encoding="utf-8")
    parts = [part.partition("\n") for part in re.split(r"(?m)^%% ", text)[1:]]
    return {name: program for name, _, program in parts}


PROGRAMS = read_programs()


def read_form(text, is_mended):
    """The program, and the accepted causes, lines and directions; none if it is mended."""
    lines, places = ["import gradtape as tf"], []
    for line in text.splitlines():
        mended = MENDED.search(line)
        line = line[: mended.start()] if mended else line
        mark = MARK.search(line)
        if mark:
            line = line[: mark.start()]
            places.append((mark[2].split(","), len(lines) + 1, mark[3]))
        if mended and is_mended:
            line = line[: len(line) - len(line.lstrip())] + mended[1]
        lines.append(line)
    return "\n".join(lines) + "\n", [] if is_mended else places


def find_anomaly(text, path):
    """The report on a program, and on the gradient that is asked of its tape."""
    path.write_text(text)
    module = sys.modules["watched"] = types.ModuleType("watched")
    names = module.__dict__
    try:
        with debug.anomaly() as report, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(text, str(path), "exec"), names)
            if {"tape", "loss", "w"} <= names.keys():
                names["tape"].gradient(names["loss"], names["w"])
        return report
    finally:
        del sys.modules["watched"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_cause_line_and_direction(name, tmp_path, capsys):
    for is_mended in (False, True) if "#= " in PROGRAMS[name] else (False,):
        text, places = read_form(PROGRAMS[name], is_mended)
        report = find_anomaly(text, tmp_path / f"mended{is_mended}.py")
        found = (report.cause, report.line, report.direction)
        if not places:
            assert found == (None, None, "")
            continue
        assert any(
            report.cause in causes and report.line == line and where in (None, report.direction)
            for causes, line, where in places
        ), (found, places)
        assert report.fix
        assert f"line {report.line}" in report.text


def test_there_are_programs():
    assert len(PROGRAMS) > 50


def test_a_function_is_watched_at_every_call():
    assert tf.__name__ == "gradtape"
    w = tf.Variable(5.0)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = w**4
        w.assign_sub(10.0 * tape.gradient(loss, w))

    with debug.anomaly() as report:
        for _ in range(6):
            step()
    assert report.op in ("power", "multiply", "square")
    assert report.file == __file__
