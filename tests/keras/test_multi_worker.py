"""Keras's `fit` on several workers: losses of one process, and backups after a kill."""

from types import SimpleNamespace

import numpy as np
import pytest

import gradtape as tf
from tests.tf.distribute.launching import launch

tf.install()
pytest.importorskip("keras")
pytestmark = pytest.mark.xdist_group("workers")

PROGRAM = """
import json, os, sys
import numpy as np
import tensorflow as tf
import keras

strategy = tf.distribute.MultiWorkerMirroredStrategy()
rng = np.random.default_rng(0)
x = rng.standard_normal((104, 8)).astype("float32")
y = np.argmax(x @ rng.standard_normal((8, 3)), -1)
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(16)
keras.utils.set_random_seed(3)
with strategy.scope():
    layers = [keras.Input((8,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(3)]
    model = keras.Sequential(layers)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.01), loss, metrics=["accuracy"])


class Kill(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

    def on_train_batch_end(self, batch, logs=None):
        is_first = os.environ["GRADTAPE_RESTART"] == "0"
        if sys.argv[2:] == ["kill"] and is_first and (self.epoch, batch) == (2, 3):
            if strategy.cluster_resolver.task_id == 1:
                os.kill(os.getpid(), 9)


backup = keras.callbacks.BackupAndRestore(sys.argv[1])
history = model.fit(dataset, epochs=5, verbose=0, shuffle=False, callbacks=[backup, Kill()])
result = {
    "epochs": history.epoch,
    "losses": history.history["loss"],
    "accuracy": history.history["accuracy"],
    "evaluated": model.evaluate(dataset, verbose=0),
    "has_backup": os.path.exists(sys.argv[1]),
}
print("RESULT", json.dumps(result), flush=True)
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("program") / "fit.py"
    path.write_text(PROGRAM)
    return path


@pytest.fixture(scope="module")
def alone(program):
    return launch(1, program, str(program.parent / "alone"))[0]


@pytest.mark.parametrize("workers", [2, 4])
def test_fit_has_the_losses_of_one_process(program, alone, workers, tmp_path):
    for result in launch(workers, program, str(tmp_path / "backup")):
        np.testing.assert_allclose(result["losses"], alone["losses"], rtol=1e-5)
        np.testing.assert_allclose(result["accuracy"], alone["accuracy"])
        np.testing.assert_allclose(result["evaluated"], alone["evaluated"], rtol=1e-5)
        assert not result["has_backup"]


def test_a_restarted_fit_continues_after_the_last_whole_epoch(program, alone, tmp_path):
    for result in launch(2, program, str(tmp_path / "backup"), "kill", restarts=1):
        assert result["epochs"] == [2, 3, 4]
        np.testing.assert_allclose(result["losses"], alone["losses"][2:], rtol=1e-5)


# Keras's own variables lack the `copy` argument of `__array__`.
@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
@pytest.mark.parametrize("rank", [0, 1])
def test_only_the_chief_touches_the_folder_of_the_backup(rank, tmp_path, monkeypatch):
    import keras

    from gradtape.dropin import keras_backup

    monkeypatch.setattr(keras_backup, "current_worker_group", lambda: SimpleNamespace(rank=rank))
    backup = keras.callbacks.BackupAndRestore(str(tmp_path / "backup"))
    backup.set_model(keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)]))
    backup._current_epoch, backup._last_batch_seen = 1, 0
    backup._save_model()
    assert (tmp_path / "backup").exists() == (rank == 0)
    assert backup.backup_dir == str(tmp_path / "backup")
