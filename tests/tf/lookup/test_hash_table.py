"""tf.lookup: expected values are from TensorFlow 2.21."""

import numpy as np
import pytest

import gradtape as tf

Pairs = tf.lookup.KeyValueTensorInitializer
Index = tf.lookup.TextFileIndex


@pytest.fixture
def table():
    return tf.lookup.StaticHashTable(Pairs(["a", "b"], [1, 2]), -1)


@pytest.fixture
def words(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("emerson 10\nlake 20\npalmer 30\n")
    return str(path)


def values(tensor):
    return tensor.numpy().tolist()


def test_missing_keys_have_the_default_value(table):
    assert values(table.lookup(tf.constant([["a", "z"]]))) == [[1, -1]]
    assert values(table.lookup(tf.constant("b"))) == 2
    assert values(table.size()) == 2
    assert (table.key_dtype, table.value_dtype) == (tf.string, tf.int32)
    keys, found = table.export()
    assert dict(zip(values(keys), values(found), strict=True)) == {b"a": 1, b"b": 2}


def test_sparse_and_ragged_keys_give_sparse_and_ragged_values(table):
    sparse = table.lookup(tf.SparseTensor([[0, 1]], ["b"], [1, 2]))
    assert values(tf.sparse.to_dense(sparse)) == [[0, 2]]
    assert table.lookup(tf.ragged.constant([["b"], ["a", "c"]])).to_list() == [[2], [1, -1]]


def test_lookup_in_a_function_and_in_a_dataset(table):
    function = tf.function(lambda keys: table.lookup(keys) + 1)
    for key, number in [("a", 2), ("q", 0), ("b", 3)]:
        assert values(function(tf.constant([key]))) == [number]
    dataset = tf.data.Dataset.from_tensor_slices(["b", "x"]).map(table.lookup)
    assert [values(number) for number in dataset] == [2, -1]


def test_keys_and_values_that_do_not_match_are_an_error(table):
    with pytest.raises(TypeError, match="Dtype of argument `keys`"):
        table.lookup(tf.constant([1]))
    with pytest.raises(tf.errors.FailedPreconditionError, match="different value for same key"):
        tf.lookup.StaticHashTable(Pairs(["a", "a"], [1, 2]), -1)
    assert values(tf.lookup.StaticHashTable(Pairs(["a", "a"], [1, 1]), -1).size()) == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected shape \[2\] for value"):
        tf.lookup.StaticHashTable(Pairs(["a", "b"], [1]), -1)
    with pytest.raises(TypeError):
        tf.lookup.StaticHashTable(Pairs(["a"], [1]), 1.5)


def test_tables_from_files(words):
    def make_table(*args, default=-1, **kwargs):
        return tf.lookup.StaticHashTable(
            tf.lookup.TextFileInitializer(words, *args, **kwargs), default
        )

    columns = make_table(tf.string, 0, tf.int64, 1, delimiter=" ")
    assert values(columns.lookup(tf.constant(["lake", "q"]))) == [20, -1]
    lines = make_table(
        tf.string, Index.WHOLE_LINE, tf.int64, Index.LINE_NUMBER, value_index_offset=5
    )
    assert values(lines.lookup(tf.constant(["lake 20", "q"]))) == [6, -1]
    names = make_table(tf.int64, Index.LINE_NUMBER, tf.string, Index.WHOLE_LINE, default="?")
    assert values(names.lookup(tf.constant([2, 7], tf.int64))) == [b"palmer 30", b"?"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid number of columns"):
        make_table(tf.string, 0, tf.int64, 2, delimiter=" ")
    with pytest.raises(ValueError, match="`key_dtype` must be int64"):
        make_table(tf.int32, Index.LINE_NUMBER, tf.string, Index.WHOLE_LINE)
    missing = tf.lookup.TextFileInitializer("nowhere.txt", tf.string, -2, tf.int64, -1)
    with pytest.raises(tf.errors.NotFoundError, match=r"nowhere\.txt"):
        tf.lookup.StaticHashTable(missing, -1)


def test_unknown_words_get_the_same_buckets_as_in_tensorflow():
    numbers = tf.constant([0, 1], tf.int64)
    known = tf.lookup.StaticVocabularyTable(Pairs(["a", "b"], numbers), 3)
    assert values(known.lookup(tf.constant(["a", "b", "zz", "yy", "xx"]))) == [0, 1, 3, 3, 4]
    assert values(known.size()) == 5
    integers = Pairs(tf.constant([10, 20], tf.int64), numbers)
    table = tf.lookup.StaticVocabularyTable(integers, 5)
    assert values(table.lookup(tf.constant([10, 20, 7, 8, 99], tf.int64))) == [0, 1, 5, 4, 4]
    none = tf.lookup.StaticVocabularyTable(None, 3)
    assert values(none.lookup(tf.constant(["q", "w"]))) == [2, 2]


def test_mutable_tables_insert_and_remove_entries():
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    table.insert(tf.constant(["x", "y"]), tf.constant([5, 6], tf.int64))
    assert values(table.lookup(tf.constant(["x", "q"]))) == [5, -1]
    table.remove(tf.constant(["x", "nope"]))
    assert values(table.lookup(tf.constant(["x"]))) == [-1]
    assert (values(table.size()), values(table["y"])) == (1, 6)
    each = table.lookup(tf.constant(["y", "q"]), tf.constant([7, 8], tf.int64))
    assert values(each) == [6, 8]
    with pytest.raises(ValueError, match="dtype string"):
        table.insert(tf.constant([1]), tf.constant([5], tf.int64))
    rows = tf.lookup.experimental.MutableHashTable(tf.int32, tf.float32, [0.0, 0.0])
    rows.insert([1, 2], [[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(rows.lookup([2, 9]), [[3, 4], [0, 0]])


def test_a_function_changes_a_table_each_time_it_runs():
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)

    @tf.function
    def number(keys):
        table.insert(keys, tf.range(tf.size(keys), dtype=tf.int64) + table.size())
        return table.lookup(keys)

    assert values(number(tf.constant(["a", "b"]))) == [0, 1]
    assert values(number(tf.constant(["b", "c"]))) == [2, 3]
    assert values(number(tf.constant(["d", "a"]))) == [3, 4]
    assert values(table.size()) == 4


def test_reserved_keys_are_an_error():
    int64 = tf.int64
    table = tf.lookup.experimental.DenseHashTable(int64, int64, -1, empty_key=0, deleted_key=-1)
    table.insert(tf.constant([3], int64), tf.constant([4], int64))
    assert values(table.lookup(tf.constant([3, 5], int64))) == [4, -1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Using the empty_key"):
        table.insert(tf.constant([0], int64), tf.constant([4], int64))


def test_cells_that_are_no_numbers_are_errors(tmp_path):
    path = tmp_path / "words"
    for text in (b"a\t1_0\n", b"a\t" + b"9" * 30, b"a\t\xff", b"a\t" + b"9" * 5000, b"a"):
        path.write_bytes(text)
        columns = tf.lookup.TextFileInitializer(str(path), tf.string, 0, tf.int64, 1)
        with pytest.raises(tf.errors.InvalidArgumentError, match="lookup"):
            tf.lookup.StaticHashTable(columns, -1)


def make_mutable(kind, filled=True):
    if kind == "words":
        made = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
        entries = ["a", "b"], tf.constant([1, 2], tf.int64)
    elif kind == "rows":
        made = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, [0.0, 0.0])
        entries = tf.constant([3, 4], tf.int64), [[1.0, 2.0], [3.0, 4.0]]
    else:
        made = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, -5, -6)
        entries = tf.constant([3, 4], tf.int64), tf.constant([7, 8], tf.int64)
    if filled:
        made.insert(*entries)
    return made


def entries_of(mutable):
    keys, rows = mutable.export()
    return sorted(zip(values(keys), values(rows), strict=True))


@pytest.mark.parametrize("kind", ["words", "rows", "dense"])
def test_checkpoints_keep_the_entries_of_mutable_tables(kind, tmp_path):
    saved = make_mutable(kind)
    path = tf.train.Checkpoint(t=saved).save(str(tmp_path / "ckpt"))
    names = [name for name, _ in tf.train.list_variables(path)]
    assert "t/.ATTRIBUTES/table-keys" in names
    assert "t/.ATTRIBUTES/table-values" in names
    restored = make_mutable(kind, filled=False)
    tf.train.Checkpoint(t=restored).restore(path).assert_consumed()
    assert entries_of(restored) == entries_of(saved)
    later = tf.train.Checkpoint()
    later.restore(path)
    later.t = make_mutable(kind, filled=False)
    assert entries_of(later.t) == entries_of(saved)


def test_restoring_removes_newer_entries(tmp_path):
    mutable = make_mutable("words")
    checkpoint = tf.train.Checkpoint(t=mutable)
    path = checkpoint.save(str(tmp_path / "ckpt"))
    mutable.insert(["c"], tf.constant([3], tf.int64))
    mutable.remove(tf.constant(["a"]))
    checkpoint.restore(path)
    assert entries_of(mutable) == [(b"a", 1), (b"b", 2)]


def test_an_empty_table_is_restored(tmp_path):
    path = tf.train.Checkpoint(t=make_mutable("words", filled=False)).write(str(tmp_path / "c"))
    mutable = make_mutable("words")
    tf.train.Checkpoint(t=mutable).read(path).assert_existing_objects_matched()
    assert entries_of(mutable) == []


def test_a_table_of_another_kind_is_not_restored(tmp_path):
    path = tf.train.Checkpoint(t=make_mutable("words")).write(str(tmp_path / "c"))
    mutable = make_mutable("rows")
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected dtype"):
        tf.train.Checkpoint(t=mutable).read(path)
    narrow = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, [0, 0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="one value of shape"):
        tf.train.Checkpoint(t=narrow).read(path)
    assert len(entries_of(mutable)) == 2
