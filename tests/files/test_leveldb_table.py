"""LevelDB tables: round trips with one block or many, and detection of damage."""

import pytest

from gradtape.core.errors import DataLossError, UnimplementedError
from gradtape.files import leveldb_table, limit
from gradtape.files.crc32c import masked_crc

ENTRIES = [(f"key{i:04d}".encode() * (i % 3 + 1), bytes([i % 256]) * (i % 7)) for i in range(100)]
ENTRIES.sort()


def table_bytes(entries=ENTRIES):
    return b"".join(leveldb_table.serialize_table(entries))


def test_a_written_table_is_read_back():
    assert list(leveldb_table.read_table(table_bytes(), "t")) == ENTRIES
    assert list(leveldb_table.read_table(table_bytes([]), "t")) == []


def test_many_blocks(monkeypatch):
    monkeypatch.setattr(leveldb_table, "BLOCK_SIZE", 64)
    data = table_bytes()
    assert list(leveldb_table.read_table(data, "t")) == ENTRIES
    assert len(data) > len(ENTRIES) * 10


def test_an_empty_table_is_tensorflows():
    # an empty block with one restart point, and its trailer
    block = bytes(4) + b"\x01\0\0\0"
    trailer = b"\0" + masked_crc(block + b"\0").to_bytes(4, "little")
    assert table_bytes([]).startswith(block + trailer)


def test_truncation_is_found_at_every_length():
    data = table_bytes(ENTRIES[:3])
    for size in range(len(data)):
        with pytest.raises(DataLossError, match="t: corrupted at byte"):
            list(leveldb_table.read_table(data[:size], "t"))


def test_every_flipped_bit_is_found():
    data = table_bytes(ENTRIES[:3])
    for bit in range(len(data) * 8):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(DataLossError, match="t: corrupted at byte"):
            list(leveldb_table.read_table(bytes(damaged), "t"))


def test_compressed_blocks_are_refused():
    data = bytearray(table_bytes([(b"k", b"v")]))
    size = len(b"\0\1\1kv") + 8
    data[size] = 1
    data[size + 1 : size + 5] = masked_crc(bytes(data[: size + 1])).to_bytes(4, "little")
    with pytest.raises(UnimplementedError, match="compressed"):
        list(leveldb_table.read_table(bytes(data), "t"))


@pytest.mark.parametrize("number", [0, 1, 127, 128, 300, 2**32, 2**63])
def test_varints(number):
    data = leveldb_table.encode_varint(number)
    assert leveldb_table.read_varint(data, 0) == (number, len(data))


def test_a_varint_that_never_ends_is_refused():
    with pytest.raises(ValueError, match="cut off"):
        leveldb_table.read_varint(b"\xff" * 20, 0)
    with pytest.raises(ValueError, match="cut off"):
        leveldb_table.read_varint(b"\x80", 0)


def test_keys_must_be_in_order():
    for entries in ([(b"b", b""), (b"a", b"")], [(b"a", b""), (b"a", b"")]):
        with pytest.raises(DataLossError, match="not in order"):
            list(leveldb_table.read_table(table_bytes(entries), "t"))


def test_a_block_is_read_once(monkeypatch):
    monkeypatch.setattr(leveldb_table, "BLOCK_SIZE", 1)
    two = table_bytes([(b"a", b"x" * 40), (b"b", b"y" * 40)])
    first = leveldb_table.encode_varint(0) + leveldb_table.encode_varint(len(b"\0\1\50a") + 48)
    entries = leveldb_table.BlockWriter(interval=1)
    for i in range(20):
        entries.add(bytes([i]), first)
    index = entries.serialize() + b"\0"
    handle = leveldb_table.encode_varint(len(two)) + leveldb_table.encode_varint(len(index) - 1)
    data = two + index + masked_crc(index).to_bytes(4, "little")
    empty = leveldb_table.read_varints(two[-48:-8].rstrip(b"\0"), "t", 0)[:2]
    handles = b"".join(map(leveldb_table.encode_varint, empty)) + handle
    data += leveldb_table.TABLE_FOOTER.pack(handles, leveldb_table.TABLE_MAGIC)
    with pytest.raises(DataLossError, match=r"not in order|overlap"):
        list(leveldb_table.read_table(data, "t"))


def test_keys_that_share_a_long_start_have_a_limit(monkeypatch):
    monkeypatch.setattr(limit, "ALWAYS_ALLOWED", 1000)
    monkeypatch.setattr(limit, "MAX_EXPANSION", 2)
    with pytest.raises(DataLossError, match="may become at most"):
        list(leveldb_table.read_table(table_bytes([(b"k" * i, b"") for i in range(99)]), "t"))


def test_a_block_of_an_unknown_kind_is_refused():
    data = bytearray(table_bytes([(b"k", b"v")]))
    size = len(b"\0\1\1kv") + 8
    data[size] = 7
    data[size + 1 : size + 5] = masked_crc(bytes(data[: size + 1])).to_bytes(4, "little")
    with pytest.raises(DataLossError, match="unknown kind 7"):
        list(leveldb_table.read_table(bytes(data), "t"))
