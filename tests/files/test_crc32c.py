"""CRC32C, with and without google_crc32c."""

import numpy as np
import pytest

from gradtape.files import crc32c

BOTH = [
    pytest.param(crc32c.extend_with_numpy, id="numpy"),
    pytest.param(crc32c._fastest_extend(), id="best"),
]


@pytest.mark.parametrize("extend", BOTH)
@pytest.mark.parametrize(
    ("data", "checksum"),
    [  # the samples of RFC 3720, appendix B.4
        (b"", 0),
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
        (bytes(range(31, -1, -1)), 0x113FDB5C),
        (b"123456789", 0xE3069283),
    ],
)
def test_known_checksums(extend, data, checksum):
    assert extend(0, data) == checksum


@pytest.mark.parametrize("size", [0, 1, 511, 512, 513, 1000, 4096, 100_003])
def test_long_data_gives_the_result_of_the_plain_loop(size, monkeypatch):
    data = np.random.default_rng(size).bytes(size)
    found = crc32c.extend_with_numpy(7, data)
    monkeypatch.setattr(crc32c, "LOOP_LIMIT", size)
    assert crc32c.extend_with_numpy(7, data) == found
    assert crc32c.crc32c(data, 7) == found


@pytest.mark.parametrize("extend", BOTH)
def test_a_checksum_can_be_extended_piece_by_piece(extend):
    data = np.random.default_rng(0).bytes(5000)
    assert extend(extend(0, data[:1234]), data[1234:]) == extend(0, data)


def test_the_mask_is_tensorflows():
    assert crc32c.masked_crc(b"\x04\0\0\0\0\0\0\0") == int.from_bytes(b"BER\x04", "little")
