"""Whatever bytes decode_gif, decode_image and the like are given: pictures or InvalidArgumentError, no other error."""

import io
import random
import warnings
from collections import Counter

import numpy as np
from checking import check, end
from PIL import Image

import gradtape as tf

warnings.simplefilter("ignore")
pixels = np.random.default_rng(0).integers(0, 256, (3, 17, 23, 3), dtype=np.uint8)
pictures = [Image.fromarray(p) for p in pixels]
buffer = io.BytesIO()
pictures[0].save(buffer, "GIF", save_all=True, append_images=pictures[1:])
good = buffer.getvalue()
chance = random.Random(1)
seen = Counter()
for _ in range(700):
    data = bytearray(good)
    for _ in range(2):
        data[chance.randrange(len(data))] = chance.randrange(256)
    if chance.random() < 0.3:
        data = data[: chance.randrange(len(data))]
    try:
        tf.io.decode_gif(bytes(data))
    except tf.errors.InvalidArgumentError:
        pass
    except Exception as error:
        seen[type(error).__name__] += 1
check("other errors of decode_gif", {}, dict(seen))
end()
