"""tf.summary: writes values over time to event files for TensorBoard."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.argument import check_instance
from gradtape.core.context import current_trace
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.name_scope import current_scope, name_scope
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import FLOAT64
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.graph import Effect
from gradtape.graph.host_function import call_on_host
from gradtape.tf.array.concat_split import concat, stack, unstack
from gradtape.tf.array.creation import constant
from gradtape.tf.audio import encode_wav
from gradtape.tf.image.color import convert_image_dtype
from gradtape.tf.image.encode import encode_png
from gradtape.tf.math.cast import cast
from gradtape.tf.summary_writer import FileWriter, SummaryWriter, summary_state

WAV_CONTENT = b"\x10\x0b"  # the message by which TensorBoard knows the encoding
DEFAULT_MAX_QUEUE, DEFAULT_FLUSH_MILLIS = 10, 120_000


@public
def create_file_writer(
    logdir: Any,
    max_queue: Any = None,
    flush_millis: Any = None,
    filename_suffix: Any = None,
    name: str | None = None,
    experimental_trackable: bool = False,
    experimental_mesh: Any = None,
) -> SummaryWriter:
    """Create a writer to a new event file in a directory.

    Args:
        logdir: the directory.
        max_queue: how many summaries to queue before they are written, 10 by default.
        flush_millis: the longest time between writes in milliseconds, two minutes by default.
        filename_suffix: the end of the file name, ".v2" by default.
        name: has no effect here.
        experimental_trackable: has no effect here.
        experimental_mesh: not supported.

    Returns:
        A SummaryWriter.

    Example:
        >>> import tempfile
        >>> writer = tf.summary.create_file_writer(tempfile.mkdtemp())
        >>> with writer.as_default():
        ...     tf.summary.scalar("loss", 0.5, step=1)
        <tf.Tensor: shape=(), dtype=bool, numpy=True>
        >>> writer.close()
    """
    if logdir is None:
        raise ValueError("Argument `logdir` cannot be None")
    suffix = ".v2" if filename_suffix is None else str(filename_suffix)
    queue = DEFAULT_MAX_QUEUE if max_queue is None else int(max_queue)
    return FileWriter(
        logdir, queue, DEFAULT_FLUSH_MILLIS if flush_millis is None else int(flush_millis), suffix
    )


def create_noop_writer() -> SummaryWriter:
    """Create a writer that drops all summaries.

    Returns:
        A SummaryWriter.
    """
    return SummaryWriter()


@public
def flush(writer: SummaryWriter | None = None, name: str | None = None) -> None:
    """Write all queued summaries of `writer`, by default this thread's default writer.

    Args:
        writer: a SummaryWriter or None.
        name: has no effect here.

    Returns:
        None.
    """
    chosen = summary_state.writer if writer is None else writer
    if chosen is not None:
        check_instance(chosen, SummaryWriter, "writer")
        chosen.flush()


@public
@contextmanager
def record_if(condition: Any) -> Iterator[None]:
    """Scope that records summaries only if `condition`, a bool or a function, is true.

    Args:
        condition: a bool, a tensor, or a function that returns one.

    Yields:
        None.
    """
    before = summary_state.condition
    summary_state.condition = condition
    try:
        yield
    finally:
        summary_state.condition = before


def is_recording() -> bool:
    """Whether summaries are recorded here."""
    if summary_state.writer is None:
        return False
    condition = (
        summary_state.condition() if callable(summary_state.condition) else summary_state.condition
    )
    return bool(condition)


@public
def should_record_summaries() -> Tensor:
    """Whether summaries are recorded here.

    Returns:
        A bool.
    """
    return convert(is_recording())


def get_step() -> Any:
    """The default step of this thread."""
    return summary_state.step


@public
def set_step(step: Any) -> None:
    """Set the default step of this thread."""
    summary_state.step = step


@public
@contextmanager
def summary_scope(
    name: str, default_name: str = "summary", values: Any = None
) -> Iterator[tuple[str, str]]:
    """Scope of one summary: yields its tag, prefixed with the name scope, and the inner scope."""
    tag = current_scope() + (name or default_name)
    with name_scope(name or default_name) as scope:
        yield tag, scope


@public
def write(
    tag: str, tensor: Any, step: Any = None, metadata: Any = None, name: str | None = None
) -> Tensor:
    """Record a tensor.

    Args:
        tag: the name in TensorBoard.
        tensor: the value, or a function that returns it, called only if summaries are recorded.
        step: an integer; by default the step of `set_step`.
        metadata: a SummaryMetadata message for TensorBoard.
        name: has no effect here.

    Returns:
        Whether the tensor was recorded.

    Raises:
        ValueError: if there is no step.
    """
    if not is_recording():
        return convert(False)
    number = summary_state.step if step is None else step
    if number is None:
        raise ValueError(
            "No step set. Please specify one either through the `step` argument or through "
            "tf.summary.experimental.set_step()"
        )
    value = convert(tensor() if callable(tensor) else tensor)
    writer = summary_state.writer
    assert writer is not None
    stage = current_trace()
    if not stage:
        return convert(writer._add(tag, value._array, int(number), metadata))

    def kernel(raw: Any, at: Any) -> tuple[Any, ...]:
        writer._add(tag, raw, int(at), metadata)
        return ()

    stage[0].run_effect(Effect("summary", kernel), [value, convert(number)], ())
    return convert(True)


def write_for_plugin(
    plugin: str,
    name: str,
    value: Callable[[], Any],
    step: Any,
    about: str | None,
    content: bytes = b"",
) -> Tensor:
    """Record a value for a plugin of TensorBoard; `content` are its own settings."""
    if not is_recording():
        return convert(False)
    from gradtape.files.event import plugin_metadata

    return write(current_scope() + name, value, step, plugin_metadata(plugin, about, content))


@public
def scalar(name: str, data: Any, step: Any = None, description: str | None = None) -> Tensor:
    """Record a number.

    Args:
        name: the name in TensorBoard, prefixed with the name scope.
        data: a number.
        step: an integer; by default the step of `set_step`.
        description: for TensorBoard, in Markdown.

    Returns:
        Whether the number was recorded.
    """

    def value() -> Tensor:
        number = cast(data, dtypes.float32)
        if number.shape.rank:
            raise ValueError(f"Expected scalar shape, saw shape: {number.shape}.")
        return number

    return write_for_plugin("scalars", name, value, step, description)


@public
def text(name: str, data: Any, step: Any = None, description: str | None = None) -> Tensor:
    """Record strings, in Markdown; otherwise as `scalar`.

    Args:
        name: the tag, below the current name scope.
        data: a string or a tensor of strings.
        step: the step; the default step if None.
        description: text in Markdown for TensorBoard, or None.

    Returns:
        A scalar bool: whether it was written.
    """
    return write_for_plugin("text", name, lambda: convert(data, dtypes.string), step, description)


@public
def histogram(
    name: str, data: Any, step: Any = None, buckets: int | None = None, description: Any = None
) -> Tensor:
    """Record a histogram of a tensor's values; otherwise as `scalar`.

    Args:
        name: the name in TensorBoard.
        data: numbers.
        step: an integer; by default the step of `set_step`.
        buckets: the number of buckets, 30 by default.
        description: for TensorBoard.

    Returns:
        A scalar bool: whether it was written.
    """

    def value() -> Any:
        return count_buckets(cast(data, dtypes.float64), 30 if buckets is None else int(buckets))

    return write_for_plugin("histograms", name, value, step, description)


@call_on_host(lambda data, buckets: Spec(((buckets, 3), FLOAT64)))
def count_buckets(data: Tensor, buckets: int) -> Tensor:
    """Histogram rows (left edge, right edge, count); equal numbers all count in the last bucket."""
    numbers = np.ravel(data._array)
    if not numbers.size or not buckets:
        return make_tensor(np.zeros((buckets, 3)))
    low, high = numbers.min(), numbers.max()
    counts: Any
    if low == high:
        counts = np.zeros(buckets)
        counts[-1] = numbers.size
        edges = np.full(buckets + 1, low)
    else:
        edges = np.linspace(low, high, buckets + 1)
        place = np.floor((numbers - low) / ((high - low) / buckets)).astype(np.int64)
        counts = np.bincount(np.minimum(place, buckets - 1), minlength=buckets)
    return make_tensor(np.stack([edges[:-1], edges[1:], counts], axis=1))


@public
def image(
    name: str, data: Any, step: Any = None, max_outputs: int = 3, description: str | None = None
) -> Tensor:
    """Record images; otherwise as `scalar`.

    Args:
        name: the name in TensorBoard.
        data: of shape (images, height, width, channels), uint8 or floats between 0 and 1.
        step: an integer; by default the step of `set_step`.
        max_outputs: how many images to record at most.
        description: for TensorBoard.

    Returns:
        A scalar bool: whether it was written.
    """

    def value() -> Any:
        images = convert(data)
        if images.shape.rank != 4:
            raise ValueError(f"image: data must have 4 axes. Received shape {images.shape}.")
        _, height, width, _ = images.shape
        first = convert_image_dtype(images[:max_outputs], dtypes.uint8, saturate=True)
        return concat([[str(width), str(height)], encode_png(first)], axis=0)

    return write_for_plugin("images", name, value, step, description)


@public
def audio(
    name: str,
    data: Any,
    sample_rate: Any,
    step: Any = None,
    max_outputs: int = 3,
    encoding: str | None = None,
    description: str | None = None,
) -> Tensor:
    """Record sounds as WAV files; otherwise as `scalar`.

    Args:
        name: the name in TensorBoard.
        data: float32 of shape (sounds, samples, channels), between -1 and 1.
        sample_rate: samples per second.
        step: an integer; by default the step of `set_step`.
        max_outputs: how many sounds to record at most.
        encoding: "wav" or None.
        description: for TensorBoard.

    Returns:
        A scalar bool: whether it was written.

    Raises:
        ValueError: if `data` has not 3 axes, or `encoding` is another one.
        InvalidArgumentError: if `data` is not float32, or `max_outputs` is negative.
    """
    if encoding not in (None, "wav"):
        raise ValueError(f"audio: encoding must be 'wav' or None. Received {encoding!r}.")
    if max_outputs < 0:
        raise InvalidArgumentError(f"audio: max_outputs must be >= 0. Received {max_outputs}.")

    def value() -> Any:
        sounds = convert(data)
        if sounds.shape.rank != 3:
            raise ValueError(f"audio: data must have 3 axes. Received shape {sounds.shape}.")
        first = [encode_wav(sound, sample_rate) for sound in unstack(sounds[:max_outputs])]
        return stack([[wav, ""] for wav in first]) if first else constant("", shape=(0, 2))

    return write_for_plugin("audio", name, value, step, description, WAV_CONTENT)


experimental = SimpleNamespace(get_step=get_step, set_step=set_step, summary_scope=summary_scope)
