"""The files of a saved model: their names, and how they are written and read.

gradtape_model.json      objects, functions and their graphs
gradtape_constants.…     arrays of the graphs, in the files of a checkpoint
variables/variables.…    the variables: a checkpoint as `tf.train.Checkpoint` writes it
assets/                  files that belong to the model
gradtape_checksums.json  the version of the format, and the digest of every other file
"""

from __future__ import annotations

import json
import os
from typing import Any

from gradtape.files import tensor_bundle
from gradtape.files.access import open_replacement
from gradtape.tf.saved_model.checksum import (
    MANIFEST,
    check_digests,
    explain_version,
    open_regular_file,
    parse_json,
    read_limited,
    read_manifest,
    write_manifest,
)
from gradtape.tf.saved_model.constant_pool import ConstantPool, constant_key, unpack_constants
from gradtape.tf.saved_model.failure import MalformedModel, shorten
from gradtape.tf.saved_model.limit import MAX_MODEL_BYTES

MODEL = "gradtape_model.json"
CONSTANTS = "gradtape_constants"
VARIABLES = "variables/variables"
ASSETS = "assets"
TENSORFLOW_MODELS = ("saved_model.pb", "saved_model.pbtxt", "saved_model.cpb")
FIRST_VERSION = 1  # of a format without a manifest


def write_model(
    directory: str, packed: dict[str, Any], pool: ConstantPool, tensors: dict[str, Any], assets: Any
) -> None:
    """Write a model; the manifest comes last.

    Args:
        directory: an existing directory.
        packed: the tree of the model.
        pool: its arrays.
        tensors: the variables, by key.
        assets: names of the files in `assets/`, which exist already.
    """
    tensor_bundle.write_bundle(os.path.join(directory, VARIABLES), tensors)
    tensor_bundle.write_bundle(os.path.join(directory, CONSTANTS), pool.named_arrays())
    text = json.dumps(packed, separators=(",", ":"), allow_nan=False)
    with open_replacement(os.path.join(directory, MODEL)) as file:
        file.write(text.encode())
    bundles = [
        name for prefix in (VARIABLES, CONSTANTS) for name in bundle_files(directory, prefix)
    ]
    write_manifest(directory, [MODEL, *bundles, *(f"{ASSETS}/{name}" for name in assets)])


def bundle_files(directory: str, prefix: str) -> list[str]:
    """The files of a checkpoint in the directory: the index, and data files that it refers to."""
    path = os.path.join(directory, prefix)
    with open_regular_file(directory, tensor_bundle.index_file(prefix)):
        reader = tensor_bundle.BundleReader(path)
    shards = sorted({entry.shard_id for entry in reader.entries.values()})
    data = [tensor_bundle.data_file(prefix, shard, reader.shards) for shard in shards]
    return [tensor_bundle.index_file(prefix), *data]


class ModelFiles:
    """The files of a model whose digests are right.

    Attributes:
        tree: the tree of the model, with arrays in place of their numbers.
        variables: a reader of the variables.
    """

    def __init__(self, directory: str) -> None:
        """Read the files of a directory.

        Raises:
            MalformedModel: if one is damaged, or of another version of the format.
        """
        self.directory = directory
        if not os.path.isfile(os.path.join(directory, MANIFEST)):
            raise explain_missing_manifest(directory)
        self.digests = read_manifest(directory)
        self.check(MODEL)
        packed = parse_json(read_limited(directory, MODEL, MAX_MODEL_BYTES))
        constants = self.open_bundle(CONSTANTS)
        keys = [constant_key(i) for i in range(len(constants.entries))]
        if any(key not in constants for key in keys):
            raise MalformedModel(f"{CONSTANTS} has other keys than numbers")
        self.tree = unpack_constants(packed, [constants.read(key) for key in keys])
        self.variables = self.open_bundle(VARIABLES)

    def check(self, *names: str) -> None:
        """Check the digests of files."""
        check_digests(self.directory, self.digests, list(names))

    def open_bundle(self, prefix: str) -> tensor_bundle.BundleReader:
        """A reader of the arrays in a checkpoint."""
        self.check(tensor_bundle.index_file(prefix))
        self.check(*bundle_files(self.directory, prefix)[1:])
        return tensor_bundle.BundleReader(os.path.join(self.directory, prefix))

    def asset_path(self, name: str) -> str:
        """The path of an asset.

        Raises:
            MalformedModel: if it is damaged, or does not lie in the directory of assets.
        """
        check_asset_name(name)
        path = os.path.join(self.directory, ASSETS, name)
        root = os.path.join(os.path.realpath(self.directory), "")
        if not os.path.realpath(path).startswith(root):
            raise MalformedModel(f"the asset {shorten(name)} is a link that leaves the directory")
        self.check(f"{ASSETS}/{name}")
        return path


def check_asset_name(name: str) -> None:
    """Check that a name is that of a file in a directory, not a path.

    Raises:
        MalformedModel: if it is not.
    """
    if name in ("", ".", "..") or any(c in "/\\:" or not c.isprintable() for c in name):
        raise MalformedModel(
            f"the name of an asset must be that of a file in {ASSETS}/. Received {shorten(name)}"
        )


def explain_missing_manifest(directory: str) -> MalformedModel:
    """Why a directory has no manifest."""
    try:
        tree = parse_json(read_limited(directory, MODEL, MAX_MODEL_BYTES))
    except MalformedModel:
        tree = None
    if isinstance(tree, dict) and tree.get("version") == FIRST_VERSION:
        return MalformedModel(explain_version(FIRST_VERSION))
    return MalformedModel(f"there is no {MANIFEST}, so the model is incomplete")
