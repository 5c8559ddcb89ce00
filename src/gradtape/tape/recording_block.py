"""RecordingBlock: the `with` block of a tape or an accumulator, which a recorder is active in."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from typing import Any

from gradtape.core.block_exit import BlockEnd, BlockExit
from gradtape.core.context import (
    local,
    pop_recorder,
    update_hand_watched_count,
)
from gradtape.core.ledger import ledger, note_tape, serial_of


def leave_block(end: BlockEnd, unused: list[BlockEnd]) -> Generator[None, None, None]:
    """Steps of `BlockExit`: deactivate the recorder of a block."""
    while True:
        try:
            end.is_usable = True
            yield
        except GeneratorExit:  # the end is not used any more
            end.block = None
            raise
        finally:
            end.is_usable = False
            block, end.block = end.block, None
            record = None if block is None else block._open_record
            if record is not None:
                home = record.thread_dict
                recorders = home["recorders"]
                if recorders and recorders[-1] is record:
                    block._open_record = None
                    home["recorders"] = recorders[:-1]
                    if record.unmarked:
                        try:
                            update_hand_watched_count(home)
                        except BaseException:  # an interrupt, perhaps before the first line
                            update_hand_watched_count(home)
                            raise
                else:  # blocks that overlap, or a scope without recorders
                    try:
                        pop_recorder(record, home)
                    except BaseException:  # an interrupt, perhaps before the first line
                        pop_recorder(record, home)
                        raise
                    finally:
                        block._open_record = None
                if ledger.active:
                    note_tape(block, "exit")
        block = record = recorders = None
        unused.append(end)


class RecordingBlock:
    """Base of tapes and accumulators."""

    _open_record: Any = None  # the recorder, while the block is open and recording

    __exit__ = BlockExit(leave_block)

    def _activate(self, record: Any) -> None:
        """Start recording with `record`. If an interrupt ends this call, nothing has started."""
        if ledger.active:
            note_tape(self, "enter", serial_of(record))
        home = record.thread_dict = local.__dict__
        recorders = (*home.get("recorders", ()), record)
        if record.unmarked:
            try:
                home["recorders"] = recorders
                update_hand_watched_count(home)
            except BaseException:
                pop_recorder(record, home)
                raise
        self._open_record = record
        home["recorders"] = recorders  # the last step, which is no call

    def _deactivate(self) -> None:
        """Stop recording."""
        pop_recorder(self._open_record, self._open_record.thread_dict)
        self._open_record = None
        if ledger.active:
            note_tape(self, "exit")


def resume_recording(end: BlockEnd, unused: list[BlockEnd]) -> Generator[None, None, None]:
    """Steps of `BlockExit`: activate the recorder of a paused tape again."""
    while True:
        try:
            end.is_usable = True
            yield
        except GeneratorExit:  # the end is not used any more
            end.block = None
            raise
        finally:
            end.is_usable = False
            pause, end.block = end.block, None
            if pause is not None:
                try:
                    pause.tape.__enter__()
                except BaseException:
                    if pause.tape._open_record is None:  # an interrupt
                        pause.tape.__enter__()
                    raise
        del pause
        unused.append(end)


class PausedRecording(contextlib.ContextDecorator):
    """The scope of `GradientTape.stop_recording`."""

    def __init__(self, tape: Any) -> None:
        self.tape = tape

    def __enter__(self) -> None:
        tape = self.tape
        if tape._open_record is None:
            raise ValueError("GradientTape.stop_recording: the tape is not recording.")
        tape._deactivate()
        try:
            if ledger.active:
                note_tape(tape, "pause")
        except BaseException:
            tape.__enter__()
            raise

    __exit__ = BlockExit(resume_recording)
