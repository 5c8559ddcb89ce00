"""tf.image: the artefacts of JPEG compression, at a given or a random quality."""

from __future__ import annotations

from typing import Any

from gradtape.core import dtypes
from gradtape.core.argument import as_integer
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.shape_rule import UINT8
from gradtape.core.tensor import Tensor
from gradtape.graph.host_function import call_on_host, describe_like
from gradtape.tf.image.color import convert_image_dtype
from gradtape.tf.image.decode import decode_jpeg
from gradtape.tf.image.encode import encode_jpeg
from gradtape.tf.random.stateful import uniform
from gradtape.tf.random.stateless import stateless_uniform


@public
def adjust_jpeg_quality(
    image: Any, jpeg_quality: Any, dct_method: str = "", name: str | None = None
) -> Tensor:
    """`image` after compression to a JPEG file and back.

    Args:
        image: of shape (height, width, channels) with 1 or 3 channels, of integers or floats.
        jpeg_quality: an integer from 0 to 100, or a tensor of one.
        dct_method: has no effect here; see `tf.io.decode_jpeg`.
        name: has no effect here.

    Returns:
        An image of the same shape and dtype.

    Raises:
        InvalidArgumentError: if the quality is not in [0, 100], or for other channels.
    """
    given = convert(image)
    pixels = convert_image_dtype(given, dtypes.uint8, saturate=True)
    quality = convert(jpeg_quality, dtypes.int32)
    return convert_image_dtype(compress_image(pixels, quality), given.dtype, saturate=True)


@call_on_host(describe_like(UINT8))
def compress_image(image: Tensor, quality: Tensor) -> Tensor:
    """A uint8 image after compression to a JPEG file and back."""
    if image._array.ndim != 3:
        raise InvalidArgumentError(
            "adjust_jpeg_quality: image must have the shape (height, width, channels). Received "
            f"{list(image._array.shape)}."
        )
    file = encode_jpeg(image, quality=as_integer(quality, "jpeg_quality"))
    return decode_jpeg(file, channels=image._array.shape[-1])


def check_quality_range(op: str, lowest: Any, highest: Any) -> None:
    """Raise ValueError unless 0 <= lowest < highest <= 100."""
    if lowest < 0 or highest < 0 or lowest > 100 or highest > 100:
        raise ValueError(
            f"{op}: jpeg encoding range must be between 0 and 100. Received [{lowest}, {highest}]."
        )
    if lowest >= highest:
        raise ValueError(
            f"{op}: `min_jpeg_quality` must be less than `max_jpeg_quality`. Received {lowest} "
            f"and {highest}."
        )


@public
def random_jpeg_quality(
    image: Any, min_jpeg_quality: Any, max_jpeg_quality: Any, seed: Any = None
) -> Tensor:
    """`adjust_jpeg_quality` with a quality drawn from [min_jpeg_quality, max_jpeg_quality).

    Args:
        image: of shape (height, width, channels) with 1 or 3 channels.
        min_jpeg_quality: the lowest quality, at least 0.
        max_jpeg_quality: a bound that is not reached, at most 100.
        seed: the op seed; see `tf.random.set_seed`.

    Returns:
        An image like `image`.

    Raises:
        ValueError: if the bounds are not in [0, 100] or not in order.
    """
    check_quality_range("random_jpeg_quality", min_jpeg_quality, max_jpeg_quality)
    quality = uniform([], min_jpeg_quality, max_jpeg_quality, dtype=dtypes.int32, seed=seed)
    return adjust_jpeg_quality(image, quality)


@public
def stateless_random_jpeg_quality(
    image: Any, min_jpeg_quality: Any, max_jpeg_quality: Any, seed: Any
) -> Tensor:
    """As `random_jpeg_quality`, but deterministic in `seed`, a pair of integers.

    Args:
        image: an RGB or grey image.
        min_jpeg_quality: the least quality.
        max_jpeg_quality: the quality above the largest one.
        seed: a pair of integers.

    Returns:
        An image like `image`.
    """
    check_quality_range("stateless_random_jpeg_quality", min_jpeg_quality, max_jpeg_quality)
    quality = stateless_uniform(
        [], seed, minval=min_jpeg_quality, maxval=max_jpeg_quality, dtype=dtypes.int32
    )
    return adjust_jpeg_quality(image, quality)
