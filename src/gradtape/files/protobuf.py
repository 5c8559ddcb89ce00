"""Protocol buffer classes from schemas in code, with TensorFlow's field names and numbers.

A schema maps the name of a message to its fields, each written `name:number:type`. A type is one
of protobuf's scalar types or another message. `type*` is a repeated field, `<type>` a map from
strings to `type`, and `kind/name:…` a field of the oneof `kind`.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any

from gradtape.core.errors import DataLossError
from gradtape.files.limit import translate_decoder_errors

PROTO_PACKAGE = "tensorflow"


@cache
def import_protobuf() -> ModuleType:
    """Import the package protobuf."""
    try:
        import google.protobuf.descriptor_pb2
        import google.protobuf.descriptor_pool
        import google.protobuf.message
        import google.protobuf.message_factory
    except ImportError as error:
        raise ImportError(
            "gradtape: protobuf is not installed. Install it with `pip install 'gradtape[io]'`.",
            name="google.protobuf",
        ) from error
    return google.protobuf


class UnusableMessage(type):
    """The class of message classes that are made without protobuf: importing them works."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """Raise ImportError, which says what to install."""
        import_protobuf()
        raise ImportError(f"{cls.__name__}: protobuf was installed after gradtape was imported.")

    def __getattr__(cls, name: str) -> Any:
        """Raise ImportError for methods of messages, such as FromString."""
        if name.startswith("_"):
            raise AttributeError(name)
        return cls()


def make_message_classes(file: str, schema: dict[str, str], module: str) -> list[Any]:
    """Make a class for each message of `schema`.

    The classes have their own descriptor pool, so that they do not clash with TensorFlow's.
    Without protobuf, they raise ImportError when they are used.

    Args:
        file: the file name of the schema.
        schema: the fields of each message.
        module: the `__module__` of the classes.
    """
    try:
        google = import_protobuf()
    except ImportError:
        return [UnusableMessage(name, (), {"__module__": module}) for name in schema]
    described = google.descriptor_pb2.FileDescriptorProto(
        name=file, package=PROTO_PACKAGE, syntax="proto3"
    )
    for name, fields in schema.items():
        message = described.message_type.add(name=name)
        for field in fields.split():
            _add_field(message, field, google.descriptor_pb2.FieldDescriptorProto)
    pool = google.descriptor_pool.DescriptorPool()
    pool.Add(described)
    made = []
    for name in schema:
        descriptor = pool.FindMessageTypeByName(f"{PROTO_PACKAGE}.{name}")
        made.append(google.message_factory.GetMessageClass(descriptor))
        made[-1].__module__ = module
    return made


def _add_field(message: Any, text: str, kinds: Any) -> None:
    """Add the field that `text` describes to a message."""
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
        field.type_name = f".{PROTO_PACKAGE}.{kind}"
    else:
        field.type = getattr(kinds, f"TYPE_{kind.upper()}")
    if choice:
        names = [one.name for one in message.oneof_decl]
        if choice not in names:
            message.oneof_decl.add(name=choice)
            names.append(choice)
        field.oneof_index = names.index(choice)


def parse_proto(kind: Any, data: bytes, where: str) -> Any:
    """Parse a message; raise DataLossError, which names `where`, if the bytes are invalid."""
    with translate_decoder_errors(f"{where}: no valid {kind.DESCRIPTOR.name}", DataLossError):
        return kind.FromString(data)
