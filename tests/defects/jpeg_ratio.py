"""decode_jpeg reduces by the given ratio and rounds sizes up."""

import PIL as PIL
from checking import check, end

import gradtape as tf

for height, width in ((205, 256), (7, 9), (1, 1), (33, 100)):
    data = tf.io.encode_jpeg(tf.zeros([height, width, 3], tf.uint8))
    for ratio in (1, 2, 4, 8):
        check(
            f"{height} x {width} by {ratio}",
            [-(-height // ratio), -(-width // ratio), 3],
            lambda: tf.io.decode_jpeg(data, ratio=ratio).shape.as_list(),
        )
end()
