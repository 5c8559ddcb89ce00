"""CheckpointManager: keeping, deleting, and continuing after a restart."""

import os

import pytest

import gradtape as tf
from gradtape.state.checkpoint import manager as checkpoint_manager


def manager_of(folder, **options):
    v = tf.Variable(0)
    return tf.train.CheckpointManager(
        tf.train.Checkpoint(v=v), folder, **{"max_to_keep": 2, **options}
    )


def names(paths):
    return [os.path.basename(path) for path in paths]


def test_the_latest_checkpoints_are_kept(tmp_path):
    manager = manager_of(tmp_path)
    assert manager.latest_checkpoint is None
    assert manager.checkpoints == []
    saved = [manager.save() for _ in range(4)]
    assert names(saved) == ["ckpt-1", "ckpt-2", "ckpt-3", "ckpt-4"]
    assert manager.checkpoints == saved[2:]
    assert manager.latest_checkpoint == saved[3] == tf.train.latest_checkpoint(tmp_path)
    assert sorted(path.name for path in tmp_path.glob("*.index")) == [
        "ckpt-3.index",
        "ckpt-4.index",
    ]
    assert len(list(tmp_path.iterdir())) == 5
    assert manager.directory == str(tmp_path)


def test_max_to_keep_none_keeps_all(tmp_path):
    manager = manager_of(tmp_path, max_to_keep=None, checkpoint_name="model")
    for _ in range(5):
        manager.save()
    assert names(manager.checkpoints) == [f"model-{n}" for n in range(1, 6)]


def test_a_new_manager_continues_the_state_of_the_old_one(tmp_path):
    first = manager_of(tmp_path)
    first.checkpoint.v.assign(7)
    first.save()
    first.save()
    second = manager_of(tmp_path)
    assert second.checkpoints == first.checkpoints
    assert second.restore_or_initialize() == first.latest_checkpoint
    assert second.checkpoint.v.numpy() == 7
    second.save()
    assert names(second.checkpoints) == ["ckpt-2", "ckpt-3"]


def test_init_fn_is_called_without_a_checkpoint(tmp_path):
    called = []
    manager = manager_of(tmp_path, init_fn=lambda: called.append(1))
    assert manager.restore_or_initialize() is None
    assert called == [1]
    manager.save()
    assert manager.restore_or_initialize() == manager.latest_checkpoint
    assert called == [1]


def test_checkpoints_within_the_interval_are_skipped(tmp_path):
    step = tf.Variable(0)
    manager = manager_of(tmp_path, step_counter=step, checkpoint_interval=2)
    saved = []
    for n in range(5):
        step.assign(n)
        saved.append(manager.save() is not None)
    assert saved == [True, False, True, False, True]
    assert manager.save() is None
    assert manager.save(check_interval=False) is not None
    assert manager.checkpoint_interval == 2


def test_one_checkpoint_per_interval_of_hours_is_kept_forever(tmp_path, monkeypatch):
    now = [1_000_000.0]
    monkeypatch.setattr(checkpoint_manager.time, "time", lambda: now[0])
    manager = manager_of(tmp_path, max_to_keep=1, keep_checkpoint_every_n_hours=2)
    for _ in range(6):
        manager.save()
        now[0] += 3600
    kept = sorted(path.stem for path in tmp_path.glob("*.index"))
    assert kept == ["ckpt-3", "ckpt-5", "ckpt-6"]
    state = tf.train.get_checkpoint_state(tmp_path)
    assert state.last_preserved_timestamp == 1_000_000 + 4 * 3600


def test_an_explicit_checkpoint_number(tmp_path):
    manager = manager_of(tmp_path)
    assert names([manager.save(checkpoint_number=100)]) == ["ckpt-100"]
    assert names([manager.save(checkpoint_number=tf.Variable(100))]) == ["ckpt-100"]
    assert names(manager.checkpoints) == ["ckpt-100"]
    assert manager.checkpoint.save_counter.numpy() == 2


@pytest.mark.parametrize("options", [{"max_to_keep": 0}, {"checkpoint_interval": 2}])
def test_invalid_arguments_raise(tmp_path, options):
    with pytest.raises(ValueError, match=r"max_to_keep|step_counter"):
        manager_of(tmp_path, **options)


def test_a_state_file_without_timestamps_is_accepted(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(0))
    checkpoint.save(tmp_path / "ckpt")
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=1)
    manager.save()
    assert names(manager.checkpoints) == ["ckpt-2"]
    assert not (tmp_path / "ckpt-1.index").exists()


def test_files_outside_of_the_directory_are_not_deleted(tmp_path):
    outside = tmp_path / "outside"
    other = tf.train.Checkpoint(v=tf.Variable(1.0)).write(outside / "model-1")
    inside = tmp_path / "inside"
    manager = manager_of(inside, max_to_keep=1)
    manager.save()
    state = (inside / "checkpoint").read_text()
    for path in ("../outside/model-1", str(outside / "model-1")):
        line = f'all_model_checkpoint_paths: "{path}"\n'
        (inside / "checkpoint").write_text(line + state)
        manager_of(inside, max_to_keep=1).save()
        assert tf.train.load_variable(other, "v/.ATTRIBUTES/VARIABLE_VALUE") == 1


def test_all_data_files_of_a_checkpoint_are_deleted(tmp_path):
    manager = manager_of(tmp_path, max_to_keep=1)
    manager.save()
    names = ["ckpt-1.data-00001-of-00002", "ckpt-1.data-1-of-2", "ckpt-10.data-00000-of-00001"]
    for name in names:
        (tmp_path / name).write_bytes(b"")
    manager.save()
    left = sorted(path.name for path in tmp_path.iterdir() if path.name.startswith("ckpt-1"))
    assert left == ["ckpt-1.data-1-of-2", "ckpt-10.data-00000-of-00001"]
