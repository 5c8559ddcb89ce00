"""The signature of a raw op as TensorFlow's registry has it, in the form of gradtape's table."""

import inspect

import tensorflow as tf
from tensorflow.python.framework import dtypes, op_def_registry

SETS = {
    "number": "bfloat16 complex128 complex64 float16 float32 float64 int16 int32 int64 int8 qint32 "
    "qint8 quint8 uint16 uint32 uint64 uint8",
    "complex": "complex128 complex64",
    "integer": "int16 int32 int64 int8 uint16 uint32 uint64 uint8",
    "full": "complex128 complex64 float32 float64",
    "matrix": "complex128 complex64 float16 float32 float64",
    "real": "bfloat16 float16 float32 float64 int16 int32 int64 int8 uint16 uint32 uint64 uint8",
    "inexact": "bfloat16 complex128 complex64 float16 float32 float64",
    "floating": "bfloat16 float16 float32 float64",
    "index": "int32 int64",
}
NAMES = {frozenset(names.split()): name for name, names in SETS.items()}


def name_of(enum):
    return dtypes.as_dtype(enum).name


def type_of(arg):
    """The type of an input or result: a dtype, an attribute, or a list of either."""
    one = arg.type_attr or arg.type_list_attr or name_of(arg.type)
    if arg.type_list_attr:
        return f"*{one}"
    return f"{arg.number_attr}*{one}" if arg.number_attr else one


def describe_default(value):
    """A default as Python source."""
    if isinstance(value, tf.DType):
        return value.name
    return "()" if value == [] else repr(value)


def describe_inferred(attr):
    """An inferred attribute: the dtypes that it admits, and its default."""
    text = attr.name
    allowed = frozenset(name_of(enum) for enum in attr.allowed_values.list.type)
    if allowed:
        text += ": " + NAMES.get(allowed, " | ".join(sorted(allowed)))
    elif attr.type in ("type", "list(type)"):
        text += ": any"
    else:
        text += f": {attr.type}"
    if attr.HasField("default_value"):
        text += f"={name_of(attr.default_value.type)}"
    return text


def describe_op(name):
    """The first line of a row, and the attributes that TensorFlow infers."""
    op = op_def_registry.get(name)
    parameters = [
        p
        for p in inspect.signature(getattr(tf.raw_ops, name)).parameters.values()
        if p.name != "name"
    ]
    attrs = {attr.name: attr for attr in op.attr}
    inputs = {arg.name: arg for arg in op.input_arg}
    given = {p.name for p in parameters}
    from_inputs = {
        name
        for arg in op.input_arg
        for name in (arg.type_attr, arg.number_attr, arg.type_list_attr)
    }
    renamed = iter([type_of(arg) for name, arg in inputs.items() if name not in given])
    other = {name for name in attrs if name not in given | from_inputs}
    renamed_attrs = iter(sorted(other))
    parts = []
    for p in parameters:
        if p.name in inputs:
            kind = type_of(inputs[p.name])
        elif p.name in attrs:
            kind = attrs[p.name].type
        else:
            kind = next(renamed, None) or attrs[next(renamed_attrs)].type
        default = "" if p.default is p.empty else f"={describe_default(p.default)}"
        parts.append(f"{p.name}: {kind}{default}")
    results = [f"{arg.name}: {type_of(arg)}" for arg in op.output_arg]
    inferred = [describe_inferred(attr) for attr in op.attr if attr.name in from_inputs - given]
    return f"{name}({', '.join(parts)}) -> {', '.join(results) or 'nothing'}", "; ".join(inferred)
