"""Names in generated source: each must be an identifier."""

from keyword import iskeyword

from gradtape.core.errors import InternalError


def check_identifier(name: str) -> str:
    """Return `name`, which becomes part of generated source.

    Raises:
        InternalError: if it is not an identifier.
    """
    if not isinstance(name, str) or not name.isidentifier() or iskeyword(name):
        raise InternalError(
            f"code generation: a name must be an identifier. Received {name!r:.100}."
        )
    return name
