"""tf.compat.v1: messages in event files, and their reader."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gradtape.core.errors import public
from gradtape.files.event import Event as Event
from gradtape.files.event import Metadata as SummaryMetadata  # noqa: F401  TensorFlow's name
from gradtape.files.event import Summary as Summary
from gradtape.files.event import read_events


@public
def summary_iterator(path: Any) -> Iterator[Any]:
    """Iterate over the Event messages of an event file.

    Args:
        path: the file.

    Raises:
        NotFoundError: if there is no such file.
        DataLossError: if the file is damaged.

    Example:
        >>> for event in tf.compat.v1.train.summary_iterator(path):  # doctest: +SKIP
        ...     for value in event.summary.value:
        ...         print(event.step, value.tag, tf.make_ndarray(value.tensor))
    """
    return read_events(path)
