"""Applying primitives: what is recorded, and what an error leaves behind."""

import warnings

import numpy as np
import pytest

import gradtape
from gradtape.core.context import listening
from gradtape.core.dispatch import Recording
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.primitive import REGISTRY, elementwise, primitive
from gradtape.core.tensor import EagerTensor, eager
from gradtape.ops.elementwise import add, exp, greater, multiply, negative
from gradtape.ops.linalg.matmul import matmul
from gradtape.ops.shape import concat
from gradtape.tape.backward import move


@pytest.fixture(autouse=True)
def registry_as_it_was():
    before = dict(REGISTRY)
    yield
    REGISTRY.clear()
    REGISTRY.update(before)


def vector(*values):
    return eager(np.array(values))


def watching(*tensors):
    known = Recording()
    for t in tensors:
        known.watch(t.uid)
    return known


def entries(known):
    return {uid: entry for uid, entry in known.items() if entry is not None}


class TestRecording:
    """What a tape knows."""

    def test_a_watched_uid_is_a_root_without_an_entry(self):
        known = watching(x := vector(1.0))
        assert known == {x.uid: None}
        assert known.roots == {x.uid}

    def test_watching_a_result_does_not_make_it_a_root(self):
        known = watching(x := vector(1.0))
        with listening((known,)):
            y = exp(x)
        known.watch(y.uid)
        assert known[y.uid] is not None
        assert known.roots == {x.uid}

    def test_a_trainable_variable_is_watched_when_it_is_read(self):
        for trainable in (True, False):
            variable = gradtape.Variable(1.0, trainable=trainable)
            known = Recording()
            known.touch(variable, variable._value.uid)
            assert (variable._value.uid in known) == trainable

    def test_without_accessed_only_variables_watched_by_hand_are_followed(self):
        variable = gradtape.Variable(1.0)
        known = Recording(accessed=False)
        known.touch(variable, 7)
        assert not known
        known.watch_variable(variable, 7)
        known.touch(variable, 8)
        found, versions = known.variables[variable._key]
        assert found is variable
        assert list(versions) == [7, 8]
        assert known.roots == {7, 8}

    def test_a_version_counts_once(self):
        variable = gradtape.Variable(1.0)
        known = Recording()
        known.watch_variable(variable, 7)
        known.watch_variable(variable, 7)
        assert list(known.variables[variable._key][1]) == [7]


class TestApplying:
    """Values and who is told."""

    def test_raw_arrays_stay_raw(self):
        out = add(np.ones(2), np.ones(2))
        assert type(out) is np.ndarray

    def test_one_tensor_makes_the_result_a_tensor(self):
        assert type(add(vector(1.0), np.ones(1))) is EagerTensor
        assert type(add(np.ones(1), vector(1.0))) is EagerTensor
        assert type(concat(np.ones(1), vector(1.0), axis=-1)) is EagerTensor

    def test_nobody_is_told_of_what_nobody_watches(self):
        known = watching(vector(1.0))
        before = dict(known)
        with listening((known,)):
            exp(vector(2.0))
        assert known == before

    def test_an_input_without_a_rule_is_not_recorded(self):
        known = watching(x := vector(1.0))
        with listening((known,)):
            greater(x, x)
        assert not entries(known)

    def test_each_recorder_is_told_of_what_it_watches(self):
        x, y = vector(1.0), vector(2.0)
        one, two, neither = watching(x), watching(y), watching()
        with listening((one, two, neither)):
            out = multiply(x, y)
        assert one[out.uid][1:] == (x.uid, y)
        assert two[out.uid][1:] == (y.uid, x)
        assert not neither

    def test_an_entry_keeps_what_the_rules_name_and_nothing_else(self):
        known = watching(x := vector(1.0))
        with listening((known,)):
            y = negative(x)
            z = exp(x)
        assert len(known[y.uid]) == 2
        assert known[z.uid][1:] == (x.uid, z)

    def test_a_stretched_operand_keeps_shapes_for_folding(self):
        known = watching(x := vector(1.0, 2.0), y := eager(np.float64(3)))
        with listening((known,)):
            out = add(x, y)
        assert known[out.uid][3:] == ((2,), (), (2,))

    def test_the_core_axes_of_a_matrix_product_are_not_stretched(self):
        a, b = eager(np.ones((2, 3))), eager(np.ones((3, 4)))
        known = watching(a, b)
        with listening((known,)):
            plain = matmul(a, b)
            batch = matmul(eager(np.ones((5, 2, 3))), b)
        assert not any(type(part) is tuple for part in known[plain.uid])
        assert known[batch.uid][-2:] == ((3, 4), (5, 2, 4))

    def test_outputs_of_one_op_share_an_entry(self):
        @primitive(outputs=True, x=lambda g: g[0] + 2 * g[1])
        def once_and_twice(x):
            return +x, 2 * x

        known = watching(x := vector(1.0))
        with listening((known,)):
            a, b = once_and_twice(x)
        (_, anchor, i), (_, other, k) = known[a.uid], known[b.uid]
        assert known[a.uid][0] is known[b.uid][0] is move
        assert anchor == other
        assert (i, k) == (0, 1)
        assert known[anchor][1] == x.uid

    def test_a_variadic_op_keeps_the_watched_positions_as_bits(self):
        xs = [vector(float(i)) for i in range(4)]
        known = watching(xs[1], xs[3])
        with listening((known,)):
            out = concat(*xs, axis=-1)
        assert known[out.uid][1:3] == ((xs[1].uid, xs[3].uid), 0b1010)


class TestErrors:
    """An op that fails leaves no trace in any recording."""

    def test_shapes_that_do_not_broadcast(self):
        known = watching(x := vector(1.0, 2.0))
        before = dict(known)
        with listening((known,)):
            with pytest.raises(
                InvalidArgumentError, match=r"multiply: Incompatible shapes: \[2\] vs\. \[3\]"
            ):
                multiply(x, vector(1.0, 2.0, 3.0))
            assert known == before
            out = exp(x)
        assert set(known) == {x.uid, out.uid}

    def test_a_kernel_that_raises_becomes_an_invalid_argument(self):
        @elementwise(x=lambda g: g)
        def fussy(x):
            raise ValueError("never good enough")

        known = watching(x := vector(1.0))
        with (
            listening((known,)),
            pytest.raises(InvalidArgumentError, match="fussy: never good enough"),
        ):
            fussy(x)
        assert set(known) == {x.uid}

    @pytest.mark.parametrize("mode", ["warn", "raise"])
    def test_a_floating_point_warning_made_an_error_does_not_stop_an_op(self, mode):
        with np.errstate(all=mode), warnings.catch_warnings():
            warnings.simplefilter("error")
            assert np.isinf(exp(vector(1e6)).numpy()).all()

    def test_rules_must_name_every_input(self):
        with pytest.raises(TypeError, match="Give every input a rule or an explicit None"):
            primitive(a=None)(lambda a, b: a)

    def test_a_rule_may_ask_only_for_what_there_is(self):
        with pytest.raises(TypeError, match=r"asks for \{'z'\}"):
            primitive(a=lambda g, z: g)(lambda a: a)

    def test_a_name_is_taken_once(self):
        def add(x):
            return x

        with pytest.raises(TypeError, match="primitive add exists already"):
            primitive(x=None)(add)
