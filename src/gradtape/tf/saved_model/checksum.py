"""The manifest of a model: the version of the format, and the SHA-256 digest of every file."""

from __future__ import annotations

import json
import os
import stat
from typing import IO, Any

from gradtape.files.access import CHUNK_SIZE, open_replacement, translate_os_errors
from gradtape.tf.saved_model.failure import MalformedModel, shorten
from gradtape.tf.saved_model.limit import MAX_MANIFEST_BYTES, check_limits
from gradtape.tf.saved_model.tree_check import expect_dict

MANIFEST = "gradtape_checksums.json"
FORMAT = "gradtape saved model"
VERSION = 3


def open_regular_file(directory: str, name: str) -> IO[bytes]:
    """Open a file of a model for reading.

    Raises:
        MalformedModel: if it is missing, or is no regular file.
    """
    path = os.path.join(directory, name)
    if not os.path.isfile(path):
        raise MalformedModel(f"there is no file {shorten(name)}")
    with translate_os_errors(path):
        file = open(path, "rb")  # noqa: SIM115  returned to the caller
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise MalformedModel(f"{shorten(name)} is not a regular file")
    return file


def read_limited(directory: str, name: str, most: int) -> bytes:
    """The content of a file of a model, which must have at most `most` bytes."""
    with open_regular_file(directory, name) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise MalformedModel(f"{name} must have at most {most} bytes")
    return data


def parse_json(data: bytes) -> Any:
    """The tree in a JSON file.

    Raises:
        MalformedModel: if it is not JSON, repeats a key, or exceeds a limit.
    """
    try:
        tree = json.loads(data, object_pairs_hook=make_dict, parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        raise MalformedModel(f"it is not valid JSON: {error}") from None
    check_limits(tree)
    return tree


def make_dict(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A dict of the pairs of an object in a JSON file."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise MalformedModel("a key is repeated")
    return made


def refuse_constant(text: str) -> Any:
    """Refuse NaN and Infinity, which JSON lacks."""
    raise MalformedModel(f"{text} is not a number of JSON")


def digest_file(directory: str, name: str) -> str:
    """The SHA-256 digest of a file."""
    from hashlib import sha256  # imported late: it loads OpenSSL

    digest = sha256()
    with open_regular_file(directory, name) as file:
        while chunk := file.read(CHUNK_SIZE):
            digest.update(chunk)
    return digest.hexdigest()


def write_manifest(directory: str, names: list[str]) -> None:
    """Write the digests of the files `names`."""
    digests = {name: digest_file(directory, name) for name in sorted(names)}
    tree = {"format": FORMAT, "version": VERSION, "sha256": digests}
    with open_replacement(os.path.join(directory, MANIFEST)) as file:
        file.write(json.dumps(tree, indent=1).encode())


def read_manifest(directory: str) -> dict[str, str]:
    """The digests of the files of a model.

    Raises:
        MalformedModel: if the manifest is damaged, or of another version.
    """
    tree = parse_json(read_limited(directory, MANIFEST, MAX_MANIFEST_BYTES))
    if not isinstance(tree, dict) or tree.get("format") != FORMAT:
        raise MalformedModel(f"{MANIFEST} does not describe a model of gradtape")
    if tree.get("version") != VERSION:
        raise MalformedModel(explain_version(tree.get("version")))
    digests = expect_dict(tree, "format", "version", "sha256")["sha256"]
    if not isinstance(digests, dict):
        raise MalformedModel(f"{MANIFEST} has no digests")
    return digests


def explain_version(version: Any) -> str:
    """What to do about a model of another version of the format."""
    return (
        f"the model has version {shorten(version)} of the format, and this version of gradtape "
        f"reads version {VERSION}. Save the model again with this version"
    )


def check_digests(directory: str, digests: dict[str, str], names: list[str]) -> None:
    """Check that files are what they were when the model was saved.

    Raises:
        MalformedModel: if one has changed, is missing or is not in the manifest.
    """
    for name in names:
        if name not in digests:
            raise MalformedModel(f"{name} is not in {MANIFEST}")
        if digest_file(directory, name) != digests[name]:
            raise MalformedModel(
                f"{name} has changed since the model was saved: its checksum differs"
            )
