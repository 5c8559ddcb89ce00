"""Protocol buffers described in code: the same names and numbers as TensorFlow's, without copies.

A schema is a dict from a message's name to its fields, each written `name:number:type`. A type is
one of protobuf's scalar types or another message; `type*` is repeated, `<type>` the values of a map
with string keys, and `kind/name:…` belongs to the choice `kind`.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any

from gradtape.core.errors import DataLossError

PACKAGE = "tensorflow"


@cache
def protobuf() -> ModuleType:
    """The package that reads and writes messages."""
    try:
        import google.protobuf.descriptor_pb2
        import google.protobuf.descriptor_pool
        import google.protobuf.message
        import google.protobuf.message_factory
    except ImportError as error:
        raise ImportError(
            "gradtape: this needs the package protobuf. `pip install gradtape[io]` brings it.",
            name="google.protobuf",
        ) from error
    return google.protobuf


def classes(file: str, schema: dict[str, str], module: str) -> list[Any]:
    """A class for each message of `schema`, in a pool of its own, so that TensorFlow may be there.

    Args:
        file: what to call the schema.
        schema: fields by the name of the message.
        module: where the classes say they live.
    """
    google = protobuf()
    described = google.descriptor_pb2.FileDescriptorProto(
        name=file, package=PACKAGE, syntax="proto3"
    )
    for name, fields in schema.items():
        message = described.message_type.add(name=name)
        for field in fields.split():
            _add_field(message, field, google.descriptor_pb2.FieldDescriptorProto)
    pool = google.descriptor_pool.DescriptorPool()
    pool.Add(described)
    made = []
    for name in schema:
        descriptor = pool.FindMessageTypeByName(f"{PACKAGE}.{name}")
        made.append(google.message_factory.GetMessageClass(descriptor))
        made[-1].__module__ = module
    return made


def _add_field(message: Any, text: str, kinds: Any) -> None:
    """Describe one field."""
    path, number, kind = text.split(":")
    choice, _, name = path.rpartition("/")
    field = message.field.add(name=name, number=int(number), label=kinds.LABEL_OPTIONAL)
    if kind.startswith("<"):
        entry = message.nested_type.add(name=name.title().replace("_", "") + "Entry")
        entry.options.map_entry = True
        for part in ("key:1:string", f"value:2:{kind[1:-1]}"):
            _add_field(entry, part, kinds)
        kind = f"{message.name}.{entry.name}*"
    if kind.endswith("*"):
        field.label = kinds.LABEL_REPEATED
        kind = kind[:-1]
    if kind[0].isupper():
        field.type = kinds.TYPE_MESSAGE
        field.type_name = f".{PACKAGE}.{kind}"
    else:
        field.type = getattr(kinds, f"TYPE_{kind.upper()}")
    if choice:
        names = [one.name for one in message.oneof_decl]
        if choice not in names:
            message.oneof_decl.add(name=choice)
            names.append(choice)
        field.oneof_index = names.index(choice)


def parsed(kind: Any, data: bytes, where: str) -> Any:
    """A message from its bytes; DataLossError, which says `where`, if they are none."""
    try:
        return kind.FromString(data)
    except protobuf().message.DecodeError as error:
        raise DataLossError(f"{where}: no valid {kind.DESCRIPTOR.name}: {error}.") from None
