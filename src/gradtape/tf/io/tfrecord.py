"""tf.io: writing TFRecord files."""

from __future__ import annotations

from typing import Any, ClassVar

from gradtape.core.convert import convert
from gradtape.core.errors import public
from gradtape.core.tensor import Tensor
from gradtape.files.tfrecord import RecordWriter


class TFRecordOptions:
    """How a TFRecord file is compressed.

    Args:
        compression_type: "", "GZIP" or "ZLIB".
        flush_mode: has no effect here.
        input_buffer_size: has no effect here.
        output_buffer_size: has no effect here.
        window_bits: has no effect here.
        compression_level: from 0 to 9; -1 for zlib's default.
        compression_method: has no effect here.
        mem_level: how much memory zlib may use, from 1 to 9.
        compression_strategy: one of zlib's strategies.

    Raises:
        ValueError: if `compression_type` is none of these.
    """

    compression_type_map: ClassVar[dict[int, str]] = {0: "", 1: "ZLIB", 2: "GZIP"}

    @public
    def __init__(
        self,
        compression_type: Any = None,
        flush_mode: int | None = None,
        input_buffer_size: int | None = None,
        output_buffer_size: int | None = None,
        window_bits: int | None = None,
        compression_level: int | None = None,
        compression_method: int | None = None,
        mem_level: int | None = None,
        compression_strategy: int | None = None,
    ) -> None:
        self.get_compression_type_string(compression_type)
        self.compression_type = compression_type
        self.flush_mode = flush_mode
        self.input_buffer_size = input_buffer_size
        self.output_buffer_size = output_buffer_size
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy

    @classmethod
    @public
    def get_compression_type_string(cls, options: Any) -> str:
        """The compression name of `options`: a TFRecordOptions, a name, a number or None.

        Args:
            options: the options.

        Returns:
            "GZIP", "ZLIB" or "".
        """
        if isinstance(options, TFRecordOptions):
            return cls.get_compression_type_string(options.compression_type)
        known = options is None or isinstance(options, (str, int))
        name = cls.compression_type_map.get(options, options or "") if known else None
        if name not in cls.compression_type_map.values():
            raise ValueError(f'Not a valid compression_type: "{options}"')
        return str(name)

    def _zlib_options(self) -> dict[str, int]:
        """The keyword arguments for zlib."""
        wanted = {
            "level": self.compression_level,
            "memLevel": self.mem_level,
            "strategy": self.compression_strategy,
        }
        return {name: value for name, value in wanted.items() if value is not None}


class TFRecordWriter:
    """Writes records to a TFRecord file, each with its length and checksums.

    Args:
        path: the file; an existing file is overwritten.
        options: a TFRecordOptions, or the name of a compression.

    Example:
        >>> import tempfile
        >>> path = tempfile.mktemp()
        >>> with tf.io.TFRecordWriter(path) as writer:
        ...     writer.write(b"a record")
        >>> tf.io.gfile.stat(path).length
        24
    """

    @public
    def __init__(self, path: Any, options: Any = None) -> None:
        compression = TFRecordOptions.get_compression_type_string(options)
        more = options._zlib_options() if isinstance(options, TFRecordOptions) else {}
        self._writer = RecordWriter(path, compression, **more)

    @public
    def write(self, record: Any) -> None:
        """Append a record: bytes or a scalar string tensor.

        Args:
            record: the bytes to write.
        """
        if isinstance(record, Tensor):
            record = convert(record)._array[()]
        if not isinstance(record, bytes):
            raise TypeError(
                f"write: a record must be bytes. Received {record!r:.100}. "
                "Call SerializeToString() of a message first."
            )
        self._writer.write(record)

    @public
    def flush(self) -> None:
        """Flush buffered records to the operating system."""
        self._writer.flush()

    @public
    def close(self) -> None:
        """Flush and close the file."""
        self._writer.close()

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(self, *details: Any) -> None:
        self.close()
