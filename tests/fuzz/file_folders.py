"""Formats of several files that the fuzzer mutates: checkpoints and files of datasets."""

import os
import random
import shutil
import tempfile
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tests.fuzz.file_formats import write_file
from tests.fuzz.file_mutation import mutate
from tests.fuzz.file_repair import repair_records, repair_table
from tests.fuzz.file_verdict import attempt

Files = dict[str, bytes]  # contents by path


class FolderFormat(NamedTuple):
    """A format of several files.

    Attributes:
        seed: valid files by their paths in the folder.
        read: reads the folder; its arguments are the folder and the module `tf`.
        rewrite: a mutation that knows the format, or None.
        errors: exceptions that TensorFlow raises, too, besides its own classes.
    """

    seed: Files
    read_folder: Callable[[str, Any], Any]
    rewrite: Callable[[Files, random.Random], Files] | None = None
    errors: tuple[type[Exception], ...] = ()

    def make_case(self, chance: random.Random) -> Files:
        """A folder with one mutated file."""
        if self.rewrite is not None and chance.random() < 0.6:
            return self.rewrite(self.seed, chance)
        name = chance.choice(sorted(self.seed))
        if chance.random() < 0.02:
            return {path: data for path, data in self.seed.items() if path != name}
        data = mutate(self.seed[name], chance, list(self.seed.values()))
        if name.endswith(".index"):
            data = repair_table(data)
        elif chance.random() < 0.7 and not name.endswith(("json", "checkpoint")):
            data = repair_records(data) if b'"dtype"' in self.seed[name] else data
        return {**self.seed, name: data}

    def read(self, case: Files, folder: str, tf: Any) -> Any:
        """Write the files and read them."""
        root = tempfile.mkdtemp(dir=folder)
        try:
            for path, data in case.items():
                os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
                write_file(root, path, data)
            return self.read_folder(root, tf)
        finally:
            shutil.rmtree(root, ignore_errors=True)


def collect_files(folder: str) -> Files:
    """The contents of all files below a folder."""
    found = {}
    for root, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            path = os.path.join(root, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, folder)] = file.read()
    return found


# -- checkpoints


def make_objects(tf: Any) -> Any:
    """A checkpoint with every kind of object whose state gradtape saves."""

    class Note(tf.train.experimental.PythonState):
        text = b"note"

        def serialize(self):
            return self.text

        def deserialize(self, string_value):
            self.text = string_value

    shuffled = tf.data.Dataset.range(20).shuffle(5, seed=1)
    return tf.train.Checkpoint(
        weights=tf.Variable(np.arange(6, dtype=np.float32).reshape(2, 3)),
        flags=tf.Variable([True, False]),
        names=tf.Variable(["a", "bcd"]),
        several=[tf.Variable(1), {"inner": tf.Variable(2.0)}],
        generator=tf.random.Generator.from_seed(3),
        position=iter(shuffled),
        note=Note(),
    )


def make_checkpoint(tf: Any) -> Files:
    """The files of a checkpoint."""
    with tempfile.TemporaryDirectory() as folder:
        objects = make_objects(tf)
        next(objects.position)
        tf.train.CheckpointManager(objects, folder, 2).save()
        return collect_files(folder)


def read_checkpoint(folder: str, tf: Any) -> Any:
    """Read a checkpoint in every way."""
    tf.train.get_checkpoint_state(folder)
    prefix = os.path.join(folder, "ckpt-1")
    attempt(lambda: read_tensors(prefix, tf), tf.errors.OpError)
    attempt(lambda: restore_objects(prefix, tf), tf.errors.OpError, ValueError)
    manager = tf.train.CheckpointManager(make_objects(tf), folder, 1)
    return manager.restore_or_initialize()


def read_tensors(prefix: str, tf: Any) -> Any:
    """Read all tensors of a checkpoint by name."""
    reader = tf.train.load_checkpoint(prefix)
    for key in reader.get_variable_to_shape_map():
        reader.get_tensor(key)
    return tf.train.list_variables(prefix), reader.get_variable_to_dtype_map()


def restore_objects(prefix: str, tf: Any) -> Any:
    """Restore objects from a checkpoint."""
    return make_objects(tf).restore(prefix).expect_partial()


def rewrite_checkpoint(seed: Files, chance: random.Random) -> Files:
    """Mutate an entry of the index or a tensor, and write files with valid checksums."""
    from gradtape.files.leveldb_table import read_table, serialize_table

    if chance.random() < 0.5:
        return rewrite_tensor(seed, chance)
    entries = dict(read_table(seed["ckpt-1.index"], "index"))
    key = chance.choice(sorted(entries))
    value = mutate(entries[key], chance, list(entries.values()))
    if chance.random() < 0.3:
        del entries[key]
        key = mutate(key, chance, list(entries))
    entries[key] = value
    return {**seed, "ckpt-1.index": b"".join(serialize_table(sorted(entries.items())))}


def rewrite_tensor(seed: Files, chance: random.Random) -> Files:
    """Mutate a tensor of a checkpoint, most often the graph of objects."""
    from gradtape.files.tensor_bundle import BundleReader, write_bundle

    with tempfile.TemporaryDirectory() as folder:
        for path, data in seed.items():
            write_file(folder, path, data)
        prefix = os.path.join(folder, "ckpt-1")
        reader = BundleReader(prefix)
        tensors = {key: reader.read(key) for key in reader.entries}
        graph = "_CHECKPOINTABLE_OBJECT_GRAPH"
        key = graph if chance.random() < 0.7 else chance.choice(sorted(tensors))
        array = np.asarray(tensors[key])
        if array.dtype == object:
            texts = [mutate(text, chance, array.ravel().tolist()) for text in array.flat]
            array = np.array(texts, object).reshape(array.shape)
        else:
            data = mutate(array.tobytes(), chance, [bytes(64)])
            data = data[: len(data) // array.itemsize * array.itemsize]
            array = np.frombuffer(data, array.dtype)
        tensors[key] = array
        write_bundle(prefix, tensors)
        return {**collect_files(folder), "checkpoint": seed["checkpoint"]}


# -- datasets


def make_dataset(tf: Any) -> Any:
    """A dataset with numbers, strings, dicts and unknown sizes."""
    texts = tf.data.Dataset.from_tensor_slices(
        {"text": ["a", "bc", "d"], "flag": [True, False, True]}
    )
    return tf.data.Dataset.zip((tf.data.Dataset.range(3), texts.batch(2).unbatch()))


def make_saved_dataset(tf: Any) -> Files:
    """The files of `Dataset.save`."""
    with tempfile.TemporaryDirectory() as folder:
        make_dataset(tf).save(folder)
        return collect_files(folder)


def make_cached_dataset(tf: Any) -> Files:
    """The file of `Dataset.cache`."""
    with tempfile.TemporaryDirectory() as folder:
        list(make_dataset(tf).cache(os.path.join(folder, "cache")))
        return collect_files(folder)


def make_snapshot(tf: Any) -> Files:
    """The files of `Dataset.snapshot`."""
    with tempfile.TemporaryDirectory() as folder:
        list(make_dataset(tf).snapshot(folder))
        return collect_files(folder)


def folder_formats(tf: Any) -> dict[str, FolderFormat]:
    """The formats of several files."""
    return {
        "checkpoint": FolderFormat(
            make_checkpoint(tf), read_checkpoint, rewrite_checkpoint, (ValueError,)
        ),
        "saved_dataset": FolderFormat(
            make_saved_dataset(tf), lambda folder, tf: list(tf.data.Dataset.load(folder))
        ),
        "cached_dataset": FolderFormat(
            make_cached_dataset(tf),
            lambda folder, tf: list(make_dataset(tf).cache(os.path.join(folder, "cache"))),
        ),
        "snapshot": FolderFormat(
            make_snapshot(tf), lambda folder, tf: list(make_dataset(tf).snapshot(folder))
        ),
    }
