"""The programs of `lost_gradients.txt`: cause, line, what is next, and no alarm once mended."""

import importlib
import os
import re
import sys
import types
import warnings
from pathlib import Path

import pytest

import gradtape as tf

MARK = re.compile(r"\s*#!(\d?) ([\w|,]+)(?=\s*(#|$))")
ACCEPTED = re.compile(r"\s*#~ ([\w|,]+)(?=\s*(#|$))")
MENDED = re.compile(r"\s*#=(\d?) (.*)$")
ADDED = re.compile(r"^(\s*)#\+(\d?) (.*)$")
REMOVED = re.compile(r"\s*#-(\d?)$")


class Form:
    """A program whose first breaks, `level` of them, are mended.

    Attributes:
        files: the text of its files, by name.
        places: for each break the accepted causes, file and line.
        accepted: other causes, file and line that count as right.
        levels: how many breaks can be mended.
    """

    def __init__(self, text: str, level: int) -> None:
        """Read the marks of the program."""
        self.level, self.levels = level, 0
        self.lines: dict[str, list[str]] = {"main.py": []}
        self.places: dict[int, tuple[set[str], str, int]] = {}
        self.accepted: list[tuple[set[str], str, int]] = []
        self.file = "main.py"
        for line in ["import gradtape as tf", *text.splitlines()]:
            if line.startswith("### "):
                self.file = line[4:].strip()
                self.lines[self.file] = ["import gradtape as tf"]
            else:
                self.lines[self.file].append(self.read_line(line))
        self.files = {name: "\n".join(lines) + "\n" for name, lines in self.lines.items()}

    def is_mended(self, number: str) -> bool:
        """Whether the break of this number is mended in this form."""
        self.levels = max(self.levels, int(number or 1))
        return self.level >= int(number or 1)

    def read_line(self, line: str) -> str:
        """The line of this form, without its marks."""
        added = ADDED.match(line)
        if added:
            return added[1] + added[3] if self.is_mended(added[2]) else ""
        removed, here = REMOVED.search(line), len(self.lines[self.file]) + 1
        line = line[: removed.start()] if removed else line
        mended = MENDED.search(line)
        line = line[: mended.start()] if mended else line
        for mark in MARK.finditer(line):
            causes = set(re.split("[|,]", mark[2]))
            self.places[int(mark[1] or 1)] = (causes, self.file, here)
        for mark in ACCEPTED.finditer(line):
            self.accepted.append((set(re.split("[|,]", mark[1])), self.file, here))
        line = ACCEPTED.sub("", MARK.sub("", line))
        if removed and self.is_mended(removed[1]):
            return ""
        if mended and self.is_mended(mended[1]):
            return line[: len(line) - len(line.lstrip())] + mended[2]
        return line

    def is_right(self, answer: object, number: int) -> bool:
        """Whether an answer names the break of this number."""
        if number not in self.places:
            return answer.cause is None
        return any(
            answer.cause in causes and (answer.file or "").endswith(f"/{file}") and answer.line == n
            for causes, file, n in [self.places[number], *self.accepted]
        )

    def run(self, folder: Path) -> list:
        """Run the program; its answers."""
        for name, text in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        main = folder / "main.py"
        module = sys.modules["explained"] = types.ModuleType("explained")
        names = module.__dict__
        sys.path.insert(0, str(folder))
        importlib.invalidate_caches()
        try:
            with tf.debug.explain() as report, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(compile(main.read_text(), str(main), "exec"), names)
                if {"tape", "loss", "w"} <= names.keys():
                    return [names["tape"].explain(names["loss"], names["w"])]
            return report.answers
        finally:
            sys.path.remove(str(folder))
            inside = str(folder) + os.sep
            for name, other in list(sys.modules.items()):
                if name == "explained" or (getattr(other, "__file__", 0) or "").startswith(inside):
                    del sys.modules[name]


def read_programs() -> dict[str, str]:
    """The programs by name."""
    text = Path(__file__).with_name("lost_gradients.txt").read_text(encoding="utf-8")
    parts = [part.partition("\n") for part in re.split(r"(?m)^%% ", text)[1:]]
    return {name: program for name, _, program in parts}


PROGRAMS = read_programs()


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_answer_and_what_is_next(name, tmp_path, capsys):
    levels = Form(PROGRAMS[name], 0).levels
    for level in range(levels + 1):
        form = Form(PROGRAMS[name], level)
        answers = form.run(tmp_path / f"mended{level}")
        for answer in answers:
            said = (level, answer.cause, answer.file, answer.line)
            assert form.is_right(answer, level + 1), said
            assert level + 1 not in form.places or answer.fix
            if level < levels:  # what the answer says comes next is next once this is mended
                assert form.is_right(answer.then, level + 2), ("then", said, answer.breaks)
        assert answers or level + 1 not in form.places


def test_there_are_programs():
    assert len(PROGRAMS) > 200
