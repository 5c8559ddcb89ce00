"""A GIF of a few kilobytes whose frames would fill gigabytes: refused at once, or decoded quickly; no half a minute, no MemoryError."""

import resource
import struct
import time

from checking import check, end, within

import gradtape as tf

within(18)
resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
side, frames = 5000, 300
screen = b"GIF89a" + struct.pack("<HHBBB", side, side, 0x80, 0, 0) + b"\0\0\0\xff\xff\xff"
frame = b"!\xf9\x04\x04\x01\0\0\0," + struct.pack("<HHHHB", 0, 0, 1, 1, 0) + b"\x02\x02\x44\x01\0"
data = screen + frame * frames + b";"
start = time.process_time()
try:
    came = f"a tensor of shape {tf.io.decode_gif(data).shape}"
except tf.errors.OpError as error:
    print(type(error).__name__, str(error)[:100])
    came = "an error of TensorFlow's"
except Exception as error:
    came = f"{type(error).__name__}: {error}"


def fine(came):
    """a tensor, or an error of TensorFlow's"""
    return came.startswith("a")


def quick(came):
    """at most 5 s"""
    return came <= 5


check(f"{len(data)} bytes, {frames} frames of {side} x {side}", fine, came)
check("seconds", quick, round(time.process_time() - start, 1))
end()
