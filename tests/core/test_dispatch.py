"""Dispatch of primitives: what recorders record, and what a failed op leaves behind."""

import warnings

import numpy as np
import pytest

import gradtape
import gradtape.tape.backward  # supplies the steps that recorded ops need
from gradtape.core.context import use_recorders
from gradtape.core.dispatch import TapeRecord, wrap_integers
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.primitive import REGISTRY, elementwise, primitive
from gradtape.core.tensor import EagerTensor, make_tensor
from gradtape.ops.elementwise import add, exp, greater, multiply, negative
from gradtape.ops.linalg.matmul import matmul
from gradtape.ops.shape import concat
from gradtape.tape.step import ROUTE_COTANGENT


@pytest.fixture(autouse=True)
def restored_registry():
    before = dict(REGISTRY)
    yield
    REGISTRY.clear()
    REGISTRY.update(before)


def vector(*values):
    return make_tensor(np.array(values))


def record_watching(*tensors):
    record = TapeRecord()
    for t in tensors:
        record.watch(t.uid)
    return record


def entries(record):
    return {uid: entry for uid, entry in record.items() if entry is not None}


class TestRecording:
    """The record of a tape: watched tensors and variables."""

    def test_a_watched_uid_is_a_root_without_an_entry(self):
        record = record_watching(x := vector(1.0))
        assert record == {x.uid: None}
        assert record.roots == {x.uid}

    def test_watching_a_result_does_not_make_it_a_root(self):
        record = record_watching(x := vector(1.0))
        with use_recorders((record,)):
            y = exp(x)
        record.watch(y.uid)
        assert record[y.uid] is not None
        assert record.roots == {x.uid}

    def test_a_trainable_variable_is_watched_when_it_is_read(self):
        for trainable in (True, False):
            variable = gradtape.Variable(1.0, trainable=trainable)
            record = TapeRecord()
            record.on_variable_read(variable, variable._value.uid)
            assert (variable._value.uid in record) == trainable

    def test_without_accessed_only_explicitly_watched_variables_are_recorded(self):
        variable = gradtape.Variable(1.0)
        record = TapeRecord(accessed=False)
        record.on_variable_read(variable, 7)
        assert not record
        record.watch_variable(variable, 7)
        record.on_variable_read(variable, 8)
        found, versions = record.variables[variable._key]
        assert found is variable
        assert list(versions) == [7, 8]
        assert record.roots == {7, 8}

    def test_a_version_is_stored_once(self):
        variable = gradtape.Variable(1.0)
        record = TapeRecord()
        record.watch_variable(variable, 7)
        record.watch_variable(variable, 7)
        assert list(record.variables[variable._key][1]) == [7]


class TestBind:
    """Results, and the entries of the recorders."""

    def test_raw_arrays_stay_raw(self):
        out = add(np.ones(2), np.ones(2))
        assert type(out) is np.ndarray

    def test_one_tensor_makes_the_result_a_tensor(self):
        assert type(add(vector(1.0), np.ones(1))) is EagerTensor
        assert type(add(np.ones(1), vector(1.0))) is EagerTensor
        assert type(concat(np.ones(1), vector(1.0), axis=-1)) is EagerTensor

    def test_an_op_on_unwatched_tensors_is_not_recorded(self):
        record = record_watching(vector(1.0))
        before = dict(record)
        with use_recorders((record,)):
            exp(vector(2.0))
        assert record == before

    def test_an_input_without_a_rule_is_not_recorded(self):
        record = record_watching(x := vector(1.0))
        with use_recorders((record,)):
            greater(x, x)
        assert not entries(record)

    def test_each_recorder_records_what_it_watches(self):
        x, y = vector(1.0), vector(2.0)
        one, two, neither = record_watching(x), record_watching(y), record_watching()
        with use_recorders((one, two, neither)):
            out = multiply(x, y)
        assert one[out.uid][1:] == (x.uid, y)
        assert two[out.uid][1:] == (y.uid, x)
        assert not neither

    def test_an_entry_keeps_only_the_residuals_that_the_rules_name(self):
        record = record_watching(x := vector(1.0))
        with use_recorders((record,)):
            y = negative(x)
            z = exp(x)
        assert len(record[y.uid]) == 2
        assert record[z.uid][1:] == (x.uid, z)

    def test_a_broadcast_operand_keeps_shapes_for_unbroadcasting(self):
        record = record_watching(x := vector(1.0, 2.0), y := make_tensor(np.float64(3)))
        with use_recorders((record,)):
            out = add(x, y)
        assert record[out.uid][3:] == ((2,), (), (2,))

    def test_the_core_axes_of_a_matrix_product_do_not_broadcast(self):
        a, b = make_tensor(np.ones((2, 3))), make_tensor(np.ones((3, 4)))
        record = record_watching(a, b)
        with use_recorders((record,)):
            plain = matmul(a, b)
            batch = matmul(make_tensor(np.ones((5, 2, 3))), b)
        assert not any(type(part) is tuple for part in record[plain.uid])
        assert record[batch.uid][-2:] == ((3, 4), (5, 2, 4))

    def test_outputs_of_one_op_share_an_entry(self):
        @primitive(outputs=True, x=lambda g: g[0] + 2 * g[1])
        def once_and_twice(x):
            return +x, 2 * x

        record = record_watching(x := vector(1.0))
        with use_recorders((record,)):
            a, b = once_and_twice(x)
        (_, anchor, i), (_, other, k) = record[a.uid], record[b.uid]
        assert record[a.uid][0] is record[b.uid][0] is ROUTE_COTANGENT
        assert anchor == other
        assert (i, k) == (0, 1)
        assert record[anchor][1] == x.uid

    def test_a_variadic_op_keeps_the_watched_positions_as_bits(self):
        xs = [vector(float(i)) for i in range(4)]
        record = record_watching(xs[1], xs[3])
        with use_recorders((record,)):
            out = concat(*xs, axis=-1)
        assert record[out.uid][1:3] == ((xs[1].uid, xs[3].uid), 0b1010)


class TestErrors:
    """A failed op records no entry."""

    def test_shapes_that_do_not_broadcast(self):
        record = record_watching(x := vector(1.0, 2.0))
        before = dict(record)
        with use_recorders((record,)):
            with pytest.raises(
                InvalidArgumentError, match=r"multiply: Incompatible shapes: \[2\] vs\. \[3\]"
            ):
                multiply(x, vector(1.0, 2.0, 3.0))
            assert record == before
            out = exp(x)
        assert set(record) == {x.uid, out.uid}

    def test_a_kernel_that_raises_becomes_an_invalid_argument(self):
        @elementwise(x=lambda g: g)
        def fussy(x):
            raise ValueError("never good enough")

        record = record_watching(x := vector(1.0))
        with (
            use_recorders((record,)),
            pytest.raises(InvalidArgumentError, match="fussy: never good enough"),
        ):
            fussy(x)
        assert set(record) == {x.uid}

    @pytest.mark.parametrize("mode", ["warn", "raise"])
    def test_a_floating_point_warning_made_an_error_does_not_stop_an_op(self, mode):
        with np.errstate(all=mode), warnings.catch_warnings():
            warnings.simplefilter("error")
            assert np.isinf(exp(vector(1e6)).numpy()).all()

    def test_rules_must_name_every_input(self):
        with pytest.raises(TypeError, match="Give every input a rule or an explicit None"):
            primitive(a=None)(lambda a, b: a)

    def test_a_rule_may_name_only_existing_residuals(self):
        with pytest.raises(TypeError, match=r"asks for \{'z'\}"):
            primitive(a=lambda g, z: g)(lambda a: a)

    def test_a_primitive_name_is_unique(self):
        def add(x):
            return x

        with pytest.raises(TypeError, match="primitive add exists already"):
            primitive(x=None)(add)


def test_numbers_that_overflow_are_an_error_of_the_op():
    with pytest.raises(InvalidArgumentError, match="operands overflow"):
        wrap_integers(REGISTRY["add"], (2**62, 2**62))
