"""Limits on what a file may become, and errors of decoders."""

import signal

import numpy as np
import pytest

from gradtape.core.errors import DataLossError, InvalidArgumentError, ResourceExhaustedError
from gradtape.files.limit import (
    ALWAYS_ALLOWED,
    array_from_bytes,
    check_expansion,
    count_elements,
    expansion_limit,
    translate_decoder_errors,
)


@pytest.mark.parametrize(
    ("shape", "count"),
    [((), 1), ((2, 3), 6), ((0, 1 << 60), 0), ((-1,), None), ((1 << 40, 1 << 40), None)],
)
def test_elements_are_counted_if_an_array_can_have_the_shape(shape, count):
    assert count_elements(shape, 1) == count


def test_a_shape_of_many_axes_or_bytes_is_none():
    assert count_elements([1] * 64, 8) == 1
    assert count_elements([1] * 65, 8) is None
    assert count_elements([0, 1 << 61], 8) is None


def test_a_small_input_stays_below_a_fixed_size_and_a_large_one_below_a_ratio():
    assert expansion_limit(0) == expansion_limit(1000) == ALWAYS_ALLOWED
    assert expansion_limit(1 << 30) == 100 << 30
    check_expansion(ALWAYS_ALLOWED, 10, "op")
    with pytest.raises(InvalidArgumentError, match="op: 10 bytes may become at most"):
        check_expansion(ALWAYS_ALLOWED + 1, 10, "op")
    with pytest.raises(DataLossError):
        check_expansion(1 << 60, 10, "op", DataLossError)


@pytest.mark.parametrize("error", [KeyError("a"), IndexError(), RecursionError("deep"), OSError()])
def test_an_exception_of_a_decoder_becomes_one_of_tensorflow(error):
    namespace = {"__name__": "json.decoder", "error": error}
    exec("def decode():\n    raise error", namespace)
    refused = pytest.raises(DataLossError, match=f"file: {type(error).__name__}")
    with refused, translate_decoder_errors("file", DataLossError):
        namespace["decode"]()


def test_a_lack_of_memory_is_resource_exhausted():
    with pytest.raises(ResourceExhaustedError), translate_decoder_errors("op"):
        np.empty(1 << 60, np.uint8)


def test_an_exception_of_a_signal_handler_stays():
    class StopError(Exception):
        pass

    def stop(*_):
        raise StopError

    before = signal.signal(signal.SIGUSR1, stop)
    try:
        with pytest.raises(StopError), translate_decoder_errors("op"):
            signal.raise_signal(signal.SIGUSR1)
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_bools_are_zero_or_one():
    array = array_from_bytes(b"\0\1\xff", np.dtype(bool))
    assert array.view(np.uint8).tolist() == [0, 1, 1]
    assert array_from_bytes(b"\1\0", np.dtype(np.int16)).flags.writeable
