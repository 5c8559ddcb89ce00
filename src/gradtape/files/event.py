"""Event files for TensorBoard: TFRecord files of Event messages."""

from __future__ import annotations

import itertools
import os
import socket
import time
from collections.abc import Iterator
from typing import Any

from gradtape.core.lock import Lock
from gradtape.files.access import as_path, translate_os_errors
from gradtape.files.protobuf import make_message_classes, parse_proto
from gradtape.files.tensor_proto import TENSOR_SCHEMA, fill_tensor_proto
from gradtape.files.tfrecord import RecordWriter, read_records

Event, Source, Summary, Value, Metadata, Plugin, *_ = make_message_classes(
    "gradtape/event.proto",
    {
        "Event": (
            "wall_time:1:double step:2:int64 what/file_version:3:string what/summary:5:Summary "
            "source_metadata:10:SourceMetadata"
        ),
        "SourceMetadata": "writer:1:string",
        "Summary": "value:1:Value*",
        "Value": (
            "tag:1:string value/simple_value:2:float node_name:7:string "
            "value/tensor:8:TensorProto metadata:9:SummaryMetadata"
        ),
        "SummaryMetadata": (
            "plugin_data:1:PluginData display_name:2:string summary_description:3:string "
            "data_class:4:int32"
        ),
        "PluginData": "plugin_name:1:string content:2:bytes",
        **TENSOR_SCHEMA,
    },
    __name__,
)
EVENT_VERSION = "brain.Event:2"
next_file_number = itertools.count().__next__


class EventWriter:
    """Appends events to a new file in a directory.

    Args:
        folder: the directory, which is created if it does not exist.
        suffix: the end of the file name.
        most: the number of buffered events after which the file is flushed.
        seconds: the time in seconds after which the file is flushed.
    """

    def __init__(self, folder: Any, suffix: str, most: int, seconds: float) -> None:
        path = as_path(folder)
        with translate_os_errors(path):
            os.makedirs(path, exist_ok=True)
        now = time.time()
        name = f"events.out.tfevents.{int(now):010d}.{socket.gethostname()}.{os.getpid()}"
        self._writer = RecordWriter(os.path.join(path, f"{name}.{next_file_number()}{suffix}"))
        self._lock = Lock()
        self._max_waiting, self._max_seconds = most, seconds
        self._waiting, self._flush_time = 0, now
        first = Event(wall_time=now, file_version=EVENT_VERSION)
        first.source_metadata.writer = "gradtape.files.event"
        self._writer.write(first.SerializeToString())
        self._writer.flush()

    def add(self, tag: str, raw: Any, step: int, metadata: Any) -> None:
        """Append an event: `tag` has the value `raw` at `step`."""
        event = Event(wall_time=time.time(), step=step)
        value = event.summary.value.add(tag=tag)
        fill_tensor_proto(value.tensor, raw)
        if metadata is not None:
            value.metadata.CopyFrom(metadata)
        self.append_event(event.SerializeToString())

    def append_event(self, event: bytes) -> None:
        """Append a serialized Event."""
        with self._lock:
            self._writer.write(event)
            self._waiting += 1
            late = time.time() - self._flush_time > self._max_seconds
            if self._waiting >= self._max_waiting or late:
                self._flush()

    def flush(self) -> None:
        """Flush the events to the operating system."""
        with self._lock:
            self._flush()

    def _flush(self) -> None:
        self._writer.flush()
        self._waiting, self._flush_time = 0, time.time()

    def close(self) -> None:
        """Flush and close the file."""
        with self._lock:
            self._writer.close()


def plugin_metadata(plugin: str, description: str | None, content: bytes = b"") -> Any:
    """The metadata that tells TensorBoard how to display a value."""
    data = Plugin(plugin_name=plugin, content=content)
    return Metadata(plugin_data=data, summary_description=description or "")


def read_events(path: Any) -> Iterator[Any]:
    """Read the Event messages of a file.

    Raises:
        NotFoundError: if there is no such file.
        DataLossError: if the file is damaged.
    """
    for record in read_records(as_path(path)):
        yield parse_proto(Event, record, f"the events in {path}")
