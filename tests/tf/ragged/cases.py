"""Expressions with ragged tensors; `python tests/tf/ragged/cases.py` records TensorFlow's results.

The results are in `recorded.jsonl`, one line per expression: its text, and the repr of its value
or the class of the error. `test_ragged.py` checks that gradtape gives the same results.
"""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np

SETUP = """
rt = tf.ragged.constant([[1, 2], [], [3]])
rf = tf.ragged.constant([[1.0, 2], [], [3]])
rs = tf.ragged.constant([["a", "b c"], [], ["d"]])
rb = tf.ragged.constant([[True, False], [], [True]])
r3 = tf.ragged.constant([[[1, 2], [3]], [], [[4]]])
ri = tf.ragged.constant([[[1, 2], [3, 4]], [], [[5, 6]]], ragged_rank=1)
u = tf.RaggedTensor.from_tensor([[1, 2], [3, 4]])
"""

BY_HAND = r"""
rt
str(rt)
r3
ri
ri.flat_values
rt.row_splits
tf.convert_to_tensor(rt)
tf.constant(rt)
np.array(rt)
len(rt)
bool(rt)
rt.shape
r3.shape
r3.values.shape
tf.RaggedTensor.from_tensor([[1,2],[3,4]])
tf.RaggedTensor.from_tensor([[1,2],[3,4]]).shape
tf.RaggedTensor.from_tensor([[1,2],[3,4]]).uniform_row_length
tf.RaggedTensor.from_tensor([[[1,2],[3,4]]],ragged_rank=2).shape
tf.RaggedTensor.from_tensor([[1,0],[3,4]],padding=0)
tf.RaggedTensor.from_tensor([[1,0],[3,4]],lengths=[1,2])
tf.RaggedTensor.from_tensor([[[1,0],[3,4]]],lengths=([2],[1,2]))
tf.RaggedTensor.from_tensor([[[1,0],[3,4]]],padding=[3,4])
tf.RaggedTensor.from_tensor([[[1,0],[0,0]]],padding=0,ragged_rank=2)
tf.RaggedTensor.from_uniform_row_length([1,2,3,4],2)
tf.RaggedTensor.from_uniform_row_length([1,2,3,4],2).shape
tf.RaggedTensor.from_uniform_row_length([],0,nrows=3)
tf.RaggedTensor.from_uniform_row_length([1,2,3],2)
rt.numpy()
rt.numpy().dtype
r3.numpy()
ri.numpy()
tf.RaggedTensor.from_tensor([[1,2],[3,4]]).numpy()
tf.ragged.constant([[1],[2]]).numpy()
rt.to_tensor()
rt.to_tensor(9, shape=[None,3])
rt.to_tensor(shape=[2,1])
rt.to_tensor(shape=[4,1])
r3.to_tensor()
ri.to_tensor(7)
r3.to_tensor(shape=(None,None,1))
rt.to_tensor(default_value=1.5)
ri.to_tensor(default_value=[8,9])
rt.to_sparse()
r3.to_sparse()
rt.bounding_shape()
r3.bounding_shape()
r3.bounding_shape(axis=1)
r3.bounding_shape(axis=[0,2])
r3.row_lengths(axis=2)
r3.row_lengths(axis=1)
rt.row_lengths(axis=0)
ri.row_lengths(axis=2)
ri.bounding_shape(out_type=tf.int32)
r3.nested_row_lengths()
r3.nested_value_rowids()
rt.value_rowids()
rt.row_starts(), rt.row_limits(), rt.nrows()
r3.merge_dims(0,1)
r3.merge_dims(1,2)
r3.merge_dims(0,2)
ri.merge_dims(1,2)
ri.merge_dims(0,1)
rt.merge_dims(1,0)
rt.with_values([7,8,9])
rt.with_values([7,8])
r3.with_flat_values(['a','b','c','d'])
rt[0]
rt[-1]
rt[5]
rt[0,1]
rt[0][1]
rt[0,5]
rt[1:]
rt[:2]
rt[::-1]
rt[::2]
rt[1:1]
rt[:,0]
rt[:,:1]
rt[:,1:]
rt[:,-1:]
rt[:,::2]
rt[:,::-1]
rt[1,:]
r3[0]
r3[0,1]
r3[0,1,0]
r3[:,0]
r3[:,:1]
r3[:,:,:1]
r3[:,:,0]
r3[0,:,0]
r3[0,:,:1]
r3[...,:1]
r3[...,0]
ri[:,:,0]
ri[...,0]
ri[...,0:1]
rt[tf.newaxis]
rt[:,tf.newaxis]
rt[...,tf.newaxis]
rt[0,tf.newaxis]
rt[tf.constant(1)]
rt[tf.constant([0,1])]
rt['a']
rt[0,0,0]
rt[:,:,:]
rt[1.0]
rt+1
1+rt
rt+rt
rt+rf
rt*[[10],[20],[30]]
rt*[10]
rt*tf.constant(2)
rt+tf.constant([1,2,3])
rt+tf.ragged.constant([[1],[2],[3]])
rt+tf.ragged.constant([[1,2],[2],[3]])
rt+tf.ragged.constant([[1,2],[],[3],[]])
r3+rt
r3+[[[1]]]
r3*tf.constant([[[1]],[[2]],[[3]]])
ri+[10,20]
ri+[[10,20]]
-rt
abs(-rt)
~(rt>1)
rt==rt
rt==1
rt!=tf.ragged.constant([[1,2],[2,3],[3]])
rt==None
rt is rt
rt/2
rt//2
rt%2
rt**2
2**rt
2-rt
rt<2
(rt<2)&(rt>0)
rt@rt
np.array(1)+rt
np.array([1])*rt
tf.constant(1)+rt
tf.constant([[1],[2],[3]])*rt
tf.constant(1)==rt
tf.reduce_sum(rt)
tf.reduce_sum(rt,axis=0)
tf.reduce_sum(rt,axis=1)
tf.reduce_sum(rt,axis=-1)
tf.reduce_sum(rt,axis=[0,1])
tf.reduce_sum(rt,axis=2)
tf.reduce_sum(rt,axis=1,keepdims=True)
tf.reduce_sum(rt,axis=0,keepdims=True)
tf.reduce_sum(rt,keepdims=True)
tf.reduce_sum(r3,axis=0)
tf.reduce_sum(r3,axis=1)
tf.reduce_sum(r3,axis=2)
tf.reduce_sum(r3,axis=2,keepdims=True)
tf.reduce_sum(r3,axis=1,keepdims=True)
tf.reduce_sum(r3,axis=0,keepdims=True)
tf.reduce_sum(r3,axis=[0,2])
tf.reduce_sum(r3,axis=[1,2])
tf.reduce_sum(ri,axis=0)
tf.reduce_sum(ri,axis=1)
tf.reduce_sum(ri,axis=2)
tf.reduce_sum(ri,axis=[1,2])
tf.reduce_mean(rf,axis=1)
tf.reduce_mean(rt,axis=1)
tf.reduce_mean(rf)
tf.reduce_mean(r3,axis=1)
tf.reduce_max(rf,axis=1)
tf.reduce_max(rt,axis=1)
tf.reduce_min(rf,axis=1)
tf.reduce_min(rt,axis=0)
tf.reduce_prod(rt,axis=1)
tf.reduce_any(rb,axis=1)
tf.reduce_all(rb,axis=1)
tf.reduce_all(rb)
tf.math.reduce_variance(rf,axis=1)
tf.cast(rt,tf.float32)
tf.concat([rt,rt],0)
tf.concat([rt,rt],1)
tf.concat([rt,[[9],[8],[7]]],1)
tf.concat([rt,[[9,8]]],0)
tf.concat([r3,r3],2)
tf.concat([r3,r3],1)
tf.concat([r3,r3],-1)
tf.concat([ri,ri],2)
tf.concat([rt],0)
tf.concat([u,u],1)
tf.concat([u,u],0)
tf.concat([rt,r3],0)
tf.concat([rt,u],1)
tf.stack([rt,rt])
tf.stack([rt,rt],1)
tf.stack([rt,rt],2)
tf.ragged.stack([rt,rt])
tf.ragged.stack([[1,2],[3]])
tf.ragged.stack([tf.constant([1,2]),tf.constant([3])])
tf.ragged.stack([tf.constant([1,2]),tf.constant([3])],axis=0)
tf.ragged.stack([1,2])
tf.unstack(rt)
tf.gather(rt,[2,0])
tf.gather(rt,2)
tf.gather(rt,[[2,0],[1,1]])
tf.gather(rt,tf.ragged.constant([[2],[0,0]]))
tf.gather([10,20,30,40],rt)
tf.gather(r3,[2,0])
tf.gather(ri,[2,0])
tf.gather(rt,[5])
tf.gather(rt,[0],axis=1)
tf.gather(tf.constant([[1,2],[3,4]]),tf.ragged.constant([[1],[0]]),axis=1)
tf.gather(tf.constant([[1,2],[3,4]]),tf.ragged.constant([[1],[0,1]]),batch_dims=1)
tf.gather(tf.ragged.constant([[1,2],[3]]),tf.ragged.constant([[1],[0]]),batch_dims=1)
tf.gather(tf.ragged.constant([[1,2],[3]]),[[1],[0]],batch_dims=1)
tf.gather(u,[1,0])
tf.gather_nd(rt,[[0,1],[2,0]])
tf.gather_nd(rt,[[0],[2]])
tf.expand_dims(rt,0)
tf.expand_dims(rt,1)
tf.expand_dims(rt,2)
tf.expand_dims(rt,-1)
tf.expand_dims(r3,2)
tf.squeeze(tf.expand_dims(rt,0),0)
tf.squeeze(tf.expand_dims(rt,1),1)
tf.squeeze(tf.expand_dims(rt,2),2)
tf.squeeze(rt,1)
tf.squeeze(rt)
tf.where(rb)
tf.where(rb,rt,-rt)
tf.where(rb,rt,0)
tf.where(rb,1,0)
tf.where(True,rt,0)
tf.where([True,False,True],rt,-rt)
tf.size(rt)
tf.size(ri)
tf.rank(rt)
tf.rank(ri)
tf.shape(rt)
tf.shape(u)
tf.shape(rt,out_type=tf.int32)
tf.shape(rt)[0]
tf.shape(rt)[1]
tf.shape(ri)[2]
tf.shape(rt).rank
tf.ones_like(rt)
tf.zeros_like(rt)
tf.zeros_like(rt,dtype=tf.float32)
tf.nn.embedding_lookup(tf.constant([[1.,2.],[3.,4.],[5.,6.],[7.,8.]]),rt)
tf.nn.relu(rf)
tf.nn.dropout(rf,0.0)
tf.one_hot(rt,4)
tf.tile(rt,[1,2])
tf.tile(rt,[2,1])
tf.reverse(rt,[0])
tf.reverse(rt,[1])
tf.reshape(rt,[3])
tf.identity(rt)
tf.clip_by_value(rt,1,2)
tf.maximum(rt,2)
tf.math.log(rf)
tf.strings.length(rs)
tf.strings.upper(rs)
tf.strings.join([rs,rs])
tf.strings.reduce_join(rs,axis=1)
tf.strings.as_string(rt)
tf.strings.to_number(tf.ragged.constant([['1'],[]],dtype=tf.string))
tf.strings.to_hash_bucket_fast(rs,10)
tf.strings.split(['a b','c',''])
tf.strings.split('a b')
tf.strings.split([['a b','c'],['','d e']])
tf.strings.split(['a,b','c'],sep=',')
tf.strings.split(['a,b','c'],sep=',').row_splits
tf.strings.split(rs)
tf.strings.bytes_split(['ab','c'])
tf.strings.unicode_decode(['ab','c'],'UTF-8')
tf.strings.unicode_split(['ab','c'],'UTF-8')
tf.strings.substr(rs,0,1)
tf.strings.regex_replace(rs,'a','z')
tf.boolean_mask(rt,rb)
tf.boolean_mask(rt,[True,False,True])
tf.ragged.boolean_mask([1,2,3],[True,False,True])
tf.ragged.boolean_mask([[1,2],[3,4]],[[True,False],[True,True]])
tf.ragged.boolean_mask(rt,rb)
tf.ragged.boolean_mask(rt,[True,False,True])
tf.ragged.boolean_mask(r3,tf.ragged.constant([[True,False],[],[True]]))
tf.ragged.range([3,0,2])
tf.ragged.range([1,2],[3,6],[1,2])
tf.ragged.range(3)
tf.ragged.range([3.,2.])
tf.ragged.range([0,1],3)
tf.ragged.range([3,2],row_splits_dtype=tf.int32).row_splits
tf.ragged.range([3],[0],[-1])
tf.ragged.range([3],[0],[0])
tf.ragged.row_splits_to_segment_ids([0,2,2,3])
tf.ragged.segment_ids_to_row_splits([0,0,2])
tf.ragged.segment_ids_to_row_splits([0,0,2],num_segments=5)
tf.ragged.map_flat_values(tf.add,rt,1)
tf.ragged.map_flat_values(lambda x: x[:1],rt)
tf.ragged.map_flat_values(tf.add,rt,rt)
tf.ragged.cross([tf.ragged.constant([['a'],['b','c']]),tf.ragged.constant([['d','e'],['f']])])
tf.ragged.constant([1,2])
tf.ragged.constant([])
tf.ragged.constant([[]])
tf.ragged.constant([[],[]],dtype=tf.int32)
tf.ragged.constant([[1,2],[3,4]])
tf.ragged.constant([[[1,2]],[[3,4],[5,6]]],inner_shape=(2,))
tf.ragged.constant([[1,2],3])
tf.ragged.constant(5)
tf.ragged.constant([[1],[2.5]])
tf.ragged.constant([np.array([1,2]),np.array([3])])
tf.ragged.constant([np.array([1.,2]),np.array([3.])]).dtype
tf.ragged.constant([[1,2],[3]],row_splits_dtype=tf.int32).row_splits
tf.ragged.constant([[1,2],[3]],dtype=tf.float32)
tf.ragged.constant([[1,'a']])
tf.ragged.constant([[[1],[2,3]]],ragged_rank=1)
tf.ragged.constant([[[1],[]],[]],ragged_rank=2)
tf.ragged.constant([[],[[]]])
tf.is_tensor(rt)
tf.type_spec_from_value(rt)
tf.type_spec_from_value(ri)
tf.RaggedTensorSpec([None,None],tf.int32)
tf.RaggedTensorSpec.from_value(rt)
tf.RaggedTensorSpec(shape=None,ragged_rank=1)
tf.RaggedTensorSpec(shape=[3,None],ragged_rank=3)
tf.RaggedTensorSpec([None,None]).is_compatible_with(rt)
tf.RaggedTensorSpec([None,None],tf.int32).is_compatible_with(rt)
tf.nest.flatten(rt,expand_composites=True)
tf.nest.flatten(r3,expand_composites=True)
tf.nest.map_structure(lambda x:x,r3,expand_composites=True)
tf.RaggedTensor.from_row_splits([1,2,3],[0,2,2,3])
tf.RaggedTensor.from_row_splits([1,2,3],[1,2,3])
tf.RaggedTensor.from_row_splits([1,2,3],[0,2,1,3])
tf.RaggedTensor.from_row_splits([1,2,3],[0,2])
tf.RaggedTensor.from_row_splits([1,2,3],[])
tf.RaggedTensor.from_row_splits([1,2,3],[[0,3]])
tf.RaggedTensor.from_row_splits(5,[0,3])
tf.RaggedTensor.from_row_splits([1,2,3],[0.,3.])
tf.RaggedTensor.from_row_splits([1,2,3],tf.constant([0,3],tf.int32)).row_splits
tf.RaggedTensor.from_row_lengths([1,2,3],[2,0,1])
tf.RaggedTensor.from_row_lengths([1,2,3],[2,-1,2])
tf.RaggedTensor.from_row_lengths([1,2,3],[2])
tf.RaggedTensor.from_row_lengths([],[])
tf.RaggedTensor.from_value_rowids([1,2,3],[0,0,2])
tf.RaggedTensor.from_value_rowids([1,2,3],[0,0,2],nrows=4)
tf.RaggedTensor.from_value_rowids([1,2,3],[0,0,2],nrows=2)
tf.RaggedTensor.from_value_rowids([1,2,3],[0,2,0])
tf.RaggedTensor.from_value_rowids([1,2],[0,0,2])
tf.RaggedTensor.from_value_rowids([1,2,3],[0,0,2],nrows=-1)
tf.RaggedTensor.from_row_starts([1,2,3],[0,2,2])
tf.RaggedTensor.from_row_starts([1,2,3],[1,2])
tf.RaggedTensor.from_row_limits([1,2,3],[2,2,3])
tf.RaggedTensor.from_row_limits([1,2,3],[2,2])
tf.RaggedTensor.from_nested_row_splits([1,2,3,4],[[0,2,2,3],[0,2,3,4]])
tf.RaggedTensor.from_nested_row_lengths([1,2,3,4],[[2,0,1],[2,1,1]])
tf.RaggedTensor.from_nested_value_rowids([1,2,3,4],[[0,0,2],[0,0,1,2]])
tf.RaggedTensor.from_nested_value_rowids([1,2,3,4],[[0,0,2],[0,0,1,2]],[4,3])
tf.RaggedTensor.from_sparse(tf.SparseTensor([[0,0],[0,1],[2,0]],[1,2,3],[4,2]))
tf.RaggedTensor.from_sparse(tf.SparseTensor([[0,1]],[1],[4,2]))
tf.RaggedTensor.from_row_splits(rt,[0,2,3])
tf.RaggedTensor(1,2)
rt.uniform_row_length
rt.consumers()
rt._type_spec
tf.experimental.RowPartition.from_row_lengths([1,2])
tf.experimental.RowPartition.from_value_rowids([0,0,2]).row_splits()
tf.sort(rt)
tf.transpose(rt)
tf.argmax(rt,axis=1)
tf.add_n([rt,rt])
tf.map_fn(tf.reduce_sum, rt, fn_output_signature=tf.int32)
tf.map_fn(lambda r: r*2, rt, fn_output_signature=tf.RaggedTensorSpec([None],tf.int32))
tf.map_fn(lambda r: r*2, rt)
tf.bitcast(rt,tf.float32)
tf.random.shuffle(rt)
tf.split(rt,3)
tf.split(rt,3,axis=1)
tf.stop_gradient(rf)
tf.debugging.check_numerics(rf,'x')
tf.io.serialize_tensor(rt)
tf.sparse.to_dense(rt.to_sparse())
tf.math.bincount(rt)
tf.math.bincount(rt,axis=-1)
tf.dynamic_partition(rt,[0,1,0],2)
tf.broadcast_to(rt,[2,3,None])
tf.tensordot(ri,[[1],[1]],1)
tf.unique(rt)
tf.sequence_mask(rt)
tf.pad(rt,[[0,0],[0,1]])
tf.math.segment_sum(rt,[0,0,1])
tf.shape(rt)+1
tf.shape(rt)[:1]
tf.shape(rt).num_row_partitions
tf.shape(rt).inner_shape
tf.shape(rt).static_lengths()
tf.shape(rt).dtype
tf.ragged.constant([[1,2],[3,4]]).shape
tf.RaggedTensor.from_tensor([[1,2],[3,4]])+rt[:2]
tf.RaggedTensor.from_tensor([[1,2],[3,4]])+[[1],[2]]
tf.RaggedTensor.from_tensor([[1],[3]])+tf.ragged.constant([[1,2],[3]])
tf.ragged.constant([[[1],[2]],[[3]]])+tf.ragged.constant([[10],[20]])
tf.ragged.constant([[[1,2],[2]],[[3]]])+tf.ragged.constant([[[10]],[[20]]],ragged_rank=0)
tf.ragged.constant([[1,2],[3]])+tf.constant([[[1]],[[2]]])
tf.ragged.constant([[1,2],[3,4]])+tf.constant([[1,2],[3,4]])
(tf.ragged.constant([[1,2],[3,4]])+tf.constant([[1,2],[3,4]])).shape
tf.equal(rt,tf.ragged.constant([[1,2],[2,3],[3]]))
tf.sparse.from_dense(rt)
tf.reduce_sum(u,axis=1)
tf.reduce_sum(u,axis=0)
u.to_tensor()
u[0]
u[:,0]
u[:,:1]
u[:,1:]
u*2
u.row_splits
tf.RaggedTensor.from_row_splits(tf.zeros([0], tf.int32), [0]).numpy()
tf.RaggedTensor.from_row_splits(tf.zeros([0, 2]), [0]).numpy()
tf.RaggedTensor.from_nested_row_splits(tf.zeros([0]), [[0, 0], [0]]).numpy()
tf.RaggedTensor.from_row_splits(tf.zeros([0], tf.int32), [0]).to_tensor(shape=[2, 3])
rt.to_tensor(shape=[5, 5])
r3.to_tensor(shape=[2, 1, 1])
ri.to_tensor(shape=(None, None, 3))
rt.to_tensor(shape=[3])
rt.to_tensor([1])
rb.to_tensor()
rs.to_tensor()
tf.ragged.cross([rs, rt])
tf.gather(rt, "a")
tf.where(rf, 1, 2)
tf.reduce_sum(rt, axis=1.5)
tf.where(rb, [[1], [2], [3]], rt)
tf.minimum(x=rt, y=2)
tf.multiply(2, y=rt)
tf.reduce_sum(input_tensor=rt, axis=1)
tf.concat(values=[rt, rt], axis=0)
tf.gather(params=rt, indices=[0])
tf.nn.relu(features=rf)
tf.clip_by_value(rf, clip_value_min=1.0, clip_value_max=2.0)
rt.with_flat_values(5)
tf.concat([rt, 5], 0)
rt.merge_dims(0, 5)
tf.ragged.range([1, 2], [1, 2, 3])
tf.gather(r3, [[0], [0]])
tf.gather(r3, [[0], [0]], axis=2)
tf.gather(u, [[0, 0], [1, 1]], batch_dims=1)
tf.gather(u, tf.ragged.constant([[0], [1, 1]]), batch_dims=1)
tf.gather(tf.reshape(tf.range(24), [3, 4, 2]), rt, axis=1)
tf.gather(tf.reshape(tf.range(24), [3, 4, 2]), rt, batch_dims=1)
tf.gather(r3[::2], [[0], [0]], batch_dims=1)
tf.gather(r3[::2], [[0], [0]], axis=1)
tf.gather_nd(r3, [[0, 0, 1], [2, 0, 0]])
tf.gather_nd(r3, [[[0, 1]], [[2, 0]]])
"""

# Expressions evaluated for random ragged tensors `x` with `rank` axes
OF_ANY = """
x + x.with_flat_values(x.flat_values * 2)
x * tf.RaggedTensor.from_nested_row_splits(x.flat_values, x.nested_row_splits)
x + tf.reshape(tf.range(x.shape[0]), [-1] + [1] * (rank - 1))
x + tf.reshape(tf.range(2), [2] + [1] * rank)
x + x.to_tensor()
x.to_tensor(-1)
tf.sparse.to_dense(x.to_sparse())
tf.gather(x, [0, 0])
tf.gather(x, [[0], [0]])
tf.gather(x, tf.ragged.constant([[0], [0, 0]]))
x[0]
x[-1]
x[1:]
x[::-1]
x[:, 1:]
x[:, :-1]
x[:, ::2]
x[:, -2:]
x[0, 1:]
x[:, :, 1:]
x[..., 1:]
x[..., 0]
x[:, None]
x[0:2, 0:1]
tf.where(x > 3, x, -x)
tf.ragged.boolean_mask(x, x > 3)
tf.tile(x, [2] + [1] * (rank - 2) + [2])
tf.reduce_sum(x, axis=[0, rank - 1])
tf.RaggedTensor.from_tensor(x.to_tensor(-1), ragged_rank=x.ragged_rank)
tf.strings.as_string(x)
x
x.bounding_shape()
tf.shape(x)
"""
OF_AXES = """
tf.reduce_sum(x, axis=AXIS)
tf.reduce_sum(x, axis=AXIS, keepdims=True)
tf.reduce_max(x, axis=AXIS)
tf.reduce_prod(x, axis=AXIS)
tf.reduce_mean(tf.cast(x, tf.float64), axis=AXIS)
tf.concat([x, x * 2], axis=AXIS)
tf.stack([x, x * 2], axis=AXIS)
tf.expand_dims(x, AXIS)
tf.reverse(x, [AXIS])
x.row_lengths(axis=AXIS)
x.merge_dims(AXIS, rank - 1)
x.merge_dims(0, AXIS)
"""


def nested_lists(source: random.Random, depth: int, count: int, inner: tuple[int, ...]) -> Any:
    """Nested lists of random lengths, with random digits."""
    if depth == 0:
        digits = [source.randrange(9) for _ in range(count * int(np.prod(inner)))]
        return np.array(digits, int).reshape(count, *inner).tolist()
    return [nested_lists(source, depth - 1, source.randrange(4), inner) for _ in range(count)]


def cases() -> list[tuple[str, str]]:
    """Pairs of the statements that prepare an expression, and the expression."""
    found = [(SETUP, line) for line in BY_HAND.strip().splitlines()]
    source = random.Random(7)
    for depth, inner in ((1, ()), (2, ()), (1, (2,)), (3, ()), (2, (2,)), (2, ())):
        lists = nested_lists(source, depth, source.randrange(1, 4), inner)
        rank = depth + 1 + len(inner)
        made = f"x = tf.ragged.constant({lists}, tf.int32, {depth}, {inner})\nrank = {rank}"
        found += [(made, line) for line in OF_ANY.strip().splitlines()]
        for axis in range(rank):
            lines = OF_AXES.replace("AXIS", str(axis)).strip().splitlines()
            found += [(made, line) for line in lines]
    return found


def outcome(tf: Any, setup: str, expression: str) -> str:
    """The result of an expression: its repr and shape, or the class of the error."""
    names: dict[str, Any] = {"tf": tf, "np": np}
    exec(setup, names)
    try:
        value = eval(expression, names)
    except Exception as error:
        kinds = [kind.__name__ for kind in type(error).__mro__]
        return next(kind for kind in kinds if kind.endswith("Error"))
    return f"{value!r} {getattr(value, 'shape', '')}".strip()


if __name__ == "__main__":
    import tensorflow

    for setup, expression in cases():
        print(json.dumps([expression, outcome(tensorflow, setup, expression)]))  # noqa: T201
