"""The Philox generator, and functions that draw from it."""

import numpy as np
import pytest

from gradtape.ops.random import philox
from gradtape.ops.random.philox import BLOCKS_AT_ONCE, philox_block_words
from gradtape.ops.random.stateless import log_float32, shuffle_index


def test_the_published_vectors():
    """Known answers of Random123 (Salmon et al., 2011) for philox4x32-10."""
    zero = np.zeros(1, np.uint64)
    ones = np.full(2, 2**64 - 1, np.uint64)
    digits = (
        np.array([0x299F31D0A4093822], np.uint64),
        np.array([0x85A308D3243F6A88, 0x0370734413198A2E], np.uint64),
    )
    assert philox_block_words(zero, np.zeros(2, np.uint64), zero).tolist() == [
        [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    ]
    assert philox_block_words(ones[:1], ones, zero).tolist() == [
        [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]
    ]
    assert philox_block_words(*digits, zero).tolist() == [
        [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]
    ]


def test_a_counter_carries_into_its_upper_half():
    key, counter = np.array([5], np.uint64), np.array([2**64 - 1, 7], np.uint64)
    first, second = philox_block_words(key, counter, np.arange(2, dtype=np.uint64))
    assert (
        second.tolist()
        == philox_block_words(key, np.array([0, 8], np.uint64), np.zeros(1, np.uint64))[0].tolist()
    )
    assert first.tolist() == philox_block_words(key, counter, np.zeros(1, np.uint64))[0].tolist()


def test_many_blocks_agree_with_single_blocks():
    key, counter = np.array([5], np.uint64), np.array([3, 7], np.uint64)
    many = philox_block_words(key, counter, np.arange(2 * BLOCKS_AT_ONCE + 5, dtype=np.uint64))
    for i in (0, BLOCKS_AT_ONCE - 1, BLOCKS_AT_ONCE, 2 * BLOCKS_AT_ONCE + 4):
        assert (
            many[i].tolist()
            == philox_block_words(key, counter, np.array([i], np.uint64))[0].tolist()
        )


def test_the_logarithm_is_accurate_to_one_ulp():
    x = np.random.default_rng(0).random(20000, np.float32) + np.float32(1e-7)
    exact = np.log(x.astype(np.float64))
    assert np.all(
        np.abs(log_float32(x) - exact) <= 0.82 * np.spacing(np.abs(exact).astype(np.float32))
    )


def test_index_shuffle_agrees_with_tensorflow():
    key = 498247692, 1, 2
    order = [shuffle_index(i, key, 19) for i in range(20)]
    assert order == [14, 0, 1, 11, 19, 6, 18, 16, 7, 2, 12, 4, 8, 9, 5, 3, 17, 10, 13, 15]
    assert [shuffle_index(i, (498247692, 5, 6), 10**6) for i in range(3)] == [
        219704,
        154409,
        92186,
    ]


@pytest.mark.parametrize("counter", [(0, 0), (2**64 - 3, 7), (2**64 - 3, 2**64 - 1)])
def test_few_blocks_are_the_first_of_many(counter):
    key, at = np.array([0xFEDCBA9876543210], np.uint64), np.array(counter, np.uint64)
    many = philox.philox_blocks(key, at, np.arange(100, dtype=np.uint64))
    for n in range(philox.FEW_BLOCKS + 1):
        few = philox.philox_blocks(key, at, np.arange(n, dtype=np.uint64))
        assert few.shape == (n, 2)
        np.testing.assert_array_equal(few, many[:n])
