"""Tensor: its repr, its conversions, and its immutability."""

import copy
import pickle

import numpy as np
import pytest

import gradtape as tf


@pytest.mark.parametrize(
    ("value", "dtype", "text"),
    [
        (0.1, "float32", "<tf.Tensor: shape=(), dtype=float32, numpy=0.10000000149011612>"),
        (0.1, "bfloat16", "<tf.Tensor: shape=(), dtype=bfloat16, numpy=0.10009765625>"),
        (1 + 2j, "complex64", "<tf.Tensor: shape=(), dtype=complex64, numpy=(1+2j)>"),
        ("é", "string", r"<tf.Tensor: shape=(), dtype=string, numpy=b'\xc3\xa9'>"),
        ([True], "bool", "<tf.Tensor: shape=(1,), dtype=bool, numpy=array([ True])>"),
        (
            [[1], [2]],
            "int64",
            "<tf.Tensor: shape=(2, 1), dtype=int64, numpy=\narray([[1],\n       [2]])>",
        ),
    ],
)
def test_repr_is_tensorflows(value, dtype, text):
    assert repr(tf.constant(value, dtype)) == text


def test_str_starts_several_lines_on_a_new_line():
    assert str(tf.constant(0.1)) == "tf.Tensor(0.1, shape=(), dtype=float32)"
    rows = tf.constant([[1, 2], [3, 4]])
    assert str(rows) == "tf.Tensor(\n[[1 2]\n [3 4]], shape=(2, 2), dtype=int32)"


def test_format_is_numpys():
    assert f"{tf.constant(2.5):.3f} {tf.constant(3):03d} {tf.constant([1, 2])}" == "2.500 003 [1 2]"
    with pytest.raises(TypeError):
        f"{tf.constant([1.0]):.2f}"


def test_numpy_is_a_copy_and_asarray_a_read_only_view():
    t = tf.constant([1.0, 2.0])
    t.numpy()[0] = 9.0
    assert t.numpy().tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(t)[0] = 9.0
    assert np.array(t).flags.writeable


def test_a_tensor_does_not_follow_its_array():
    array = np.ones(2)
    t = tf.convert_to_tensor(array)
    array[0] = 5
    assert t.numpy().tolist() == [1.0, 1.0]


def test_items_cannot_be_assigned():
    with pytest.raises(TypeError, match="item assignment"):
        tf.constant([1, 2])[0] = 5


@pytest.mark.parametrize("op", [int, float, complex])
def test_only_scalars_become_python_numbers(op):
    assert op(tf.constant(2)) == 2
    with pytest.raises(TypeError, match="0-dimensional"):
        op(tf.constant([2]))


def test_truth_is_that_of_a_single_element():
    assert tf.constant([[1.0]])
    assert not tf.constant([])
    assert not tf.constant("")
    with pytest.raises(ValueError, match="ambiguous"):
        bool(tf.constant([1, 2]))


def test_integers_are_indices_and_others_are_not():
    assert "abc"[tf.constant(1)] == "b"
    for value in (1.0, True, [1]):
        with pytest.raises(TypeError):
            "abc"[tf.constant(value)]


def test_scalars_have_no_length_and_no_items():
    with pytest.raises(TypeError):
        len(tf.constant(1))
    with pytest.raises(TypeError):
        iter(tf.constant(1))


def test_copies_are_the_tensor_itself_and_pickles_are_equal():
    t = tf.constant(["a", "b"])
    assert copy.copy(t) is t
    assert copy.deepcopy(t) is t
    assert pickle.loads(pickle.dumps(t)).numpy().tolist() == [b"a", b"b"]


def test_references_compare_by_identity():
    a, b = tf.constant(1), tf.constant(1)
    assert len({a.ref(), a.ref(), b.ref()}) == 2
    assert a.ref().deref() is a
    with pytest.raises(TypeError):
        a.ref() == a  # noqa: B015  the comparison is what fails
    with pytest.raises(TypeError, match="unhashable"):
        hash(a)


@pytest.mark.parametrize("name", ["astype", "reshape", "T", "size", "nothing_like_this"])
def test_numpys_methods_are_missing(name):
    with pytest.raises(AttributeError, match=name):
        getattr(tf.constant([1.0]), name)


def test_numpy_operands_use_the_tensors_operators():
    for left in (np.array([2.0, 2.0]), np.float32(2), np.float64(2)):
        product = left * tf.constant([1.0, 3.0])
        assert isinstance(product, tf.Tensor)
        assert product.dtype is tf.float32
        assert product.numpy().tolist() == [2.0, 6.0]


def test_dlpack_goes_both_ways():
    t = tf.constant([[1, 2], [3, 4]])
    assert np.from_dlpack(t).tolist() == t.numpy().tolist()
    dlpack = tf.experimental.dlpack
    assert dlpack.from_dlpack(dlpack.to_dlpack(t)).numpy().tolist() == t.numpy().tolist()
    with pytest.raises(tf.errors.InvalidArgumentError):
        dlpack.to_dlpack([1.0])
    with pytest.raises(tf.errors.InvalidArgumentError):
        dlpack.to_dlpack(tf.constant("a"))


def test_numpys_methods_are_refused_by_name():
    t = tf.constant([1.0])
    for name in ("T", "astype", "reshape", "size"):
        assert not hasattr(t, name)
        with pytest.raises(AttributeError, match=rf"EagerTensor object .* '{name}'.*\.numpy\(\)"):
            getattr(t, name)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        t.nonsense  # noqa: B018 - the access is what is tested
