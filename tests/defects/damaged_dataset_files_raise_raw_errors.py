"""Dataset.load of a damaged folder, decode_json_example of no JSON, a WAV file with wild sizes: TensorFlow's errors.

(For JSON that is no UTF-8 TensorFlow itself stumbles over its own message.)
"""

import os
import struct
import tempfile

from checking import Raises, check, end

import gradtape as tf

path = os.path.join(tempfile.mkdtemp(), "data")
tf.data.Dataset.range(5).save(path)
for name in sorted(os.path.join(d, f) for d, _, files in os.walk(path) for f in files):
    with open(name, "rb") as file:
        good = file.read()
    for bad in (b"", b"\xff\xfe{", good[: len(good) // 2]):
        with open(name, "wb") as file:
            file.write(bad)
        if name.endswith("record") and not bad:
            continue  # a file of no records
        refused = Raises(tf.errors.OpError)
        check(
            f"{os.path.basename(name)} becomes {bad[:10]!r}…",
            refused,
            lambda: list(tf.data.Dataset.load(path)),
        )
    with open(name, "wb") as file:
        file.write(good)

refused = Raises(tf.errors.InvalidArgumentError)
for text in (b"{", b"\xff\xfe", b"[1]", b'{"features": 3}'):
    check(f"decode_json_example of {text!r}", refused, lambda: tf.io.decode_json_example(text))

wav = (
    b"RIFF"
    + struct.pack("<I", 36)
    + b"WAVEfmt "
    + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 16000, 2, 16)
    + b"data"
)
check(
    "decode_wav with 2**32 - 1 bytes of data",
    refused,
    lambda: tf.audio.decode_wav(wav + struct.pack("<I", 2**32 - 1)),
)
wav = (
    b"RIFF"
    + struct.pack("<I", 36)
    + b"WAVEfmt "
    + struct.pack("<IHHIIHH", 16, 1, 1, 2**32 - 1, 16000, 2, 16)
    + b"data"
)
check(
    "decode_wav with a rate of 2**32 - 1",
    refused,
    lambda: tf.audio.decode_wav(wav + struct.pack("<Ihh", 4, 1, 2)),
)
end()
