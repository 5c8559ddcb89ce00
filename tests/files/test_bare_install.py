"""Without protobuf, Pillow and crc32c each namespace is there; its use says what to install."""

import subprocess
import sys

CODE = """if True:
    import sys
    ABSENT = ("google", "google_crc32c", "PIL", "keras", "jax", "jaxlib")
    class Absent:
        def find_spec(self, name, path=None, target=None):
            if name.split(".")[0] in ABSENT:
                raise ModuleNotFoundError("No module named " + repr(name), name=name)
    sys.meta_path.insert(0, Absent())
    import gradtape as tf
    for name in ("train", "saved_model", "io", "image", "summary"):
        assert hasattr(tf, name), name
    assert hasattr(tf.train, "Checkpoint") and hasattr(tf.train, "Example")
    for use in (
        lambda: tf.train.Example(),
        lambda: tf.train.Example.FromString(b""),
        lambda: tf.train.Checkpoint(v=tf.Variable(1.0)).save("/no/such/folder/x"),
        lambda: tf.summary.create_file_writer(sys.argv[1]),
    ):
        try:
            use()
        except ImportError as error:
            assert "pip install 'gradtape[io]'" in str(error)
        else:
            raise SystemExit("no error")
    """


def test_namespaces_exist_and_say_what_to_install(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
