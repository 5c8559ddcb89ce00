"""`install`: `import tensorflow` means gradtape."""

import importlib
import importlib.util
import os
import subprocess
import sys
from importlib import metadata
from types import ModuleType

import pytest

import gradtape as tf
from gradtape.dropin import keras
from gradtape.dropin.install import InstallState


@pytest.fixture(autouse=True)
def fresh():
    """Start uninstalled, and restore the state of the process afterwards."""
    before = InstallState.finder
    tf.uninstall()
    yield
    tf.uninstall()
    if before is not None:
        tf.install()


@pytest.fixture
def installed(fresh):
    with tf.install():
        yield


def import_by_name(name):
    return importlib.import_module(name)


@pytest.mark.usefixtures("installed")
def test_tensorflow_is_gradtape():
    tensorflow = import_by_name("tensorflow")
    assert tensorflow.Tensor is tf.Tensor
    assert tensorflow.GradientTape is tf.GradientTape
    assert tensorflow.__version__ == tf.__version__
    x = tensorflow.Variable(3.0)
    with tensorflow.GradientTape() as tape:
        y = tensorflow.math.sin(x)
    assert tape.gradient(y, x) == tf.cos(3.0)


@pytest.mark.usefixtures("installed")
def test_submodules_can_be_imported_by_name():
    from tensorflow.math import reduce_sum  # a namespace of the public API

    assert reduce_sum is tf.math.reduce_sum
    assert import_by_name("tensorflow.data").Dataset is tf.data.Dataset
    assert import_by_name("tensorflow").data is import_by_name("tensorflow.data")


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("tensorflow", "__internal__ bool int8 ones zeros ones_like zeros_like sparse"),
        ("tensorflow.compat.v1", "reset_default_graph placeholder"),
        ("tensorflow.compiler.tf2xla.python.xla", "dynamic_update_slice"),
        ("tensorflow.errors", "InvalidArgumentError"),
        ("tensorflow.experimental", "dtensor Optional"),
        ("tensorflow.python.eager", "context"),
        ("tensorflow.python.framework.config", "is_op_determinism_enabled"),
        ("tensorflow.python.ops.linalg.sparse", "sparse_csr_matrix_ops"),
        ("tensorflow.python.ops.math_ops", "is_nan"),
        ("tensorflow.python.trackable.data_structures", "ListWrapper _DictWrapper"),
    ],
)
def test_names_that_keras_imports_exist(module, names):
    found = import_by_name(module)
    for name in names.split():
        assert hasattr(found, name)


@pytest.mark.usefixtures("installed")
def test_errors_show_the_full_name_of_a_missing_symbol():
    tensorflow = import_by_name("tensorflow")
    with pytest.raises(AttributeError, match=r"tf\.math\.frobnicate"):
        tensorflow.math.frobnicate  # noqa: B018 - the access is the test
    with pytest.raises(AttributeError, match=r"tf\.__internal__\.tracking\.nothing"):
        tensorflow.__internal__.tracking.nothing  # noqa: B018
    with pytest.raises(ModuleNotFoundError, match=r"tensorflow\.lite"):
        import_by_name("tensorflow.lite")
    with pytest.raises(ImportError):
        from tensorflow.python.eager import nothing  # noqa: F401


@pytest.mark.usefixtures("installed")
def test_folders_of_gradtape_are_not_part_of_tensorflow():
    tensorflow = import_by_name("tensorflow")
    for name in ("dropin", "pipeline", "tape", "install"):
        assert not hasattr(tensorflow, name)
        assert name not in dir(tensorflow)


@pytest.mark.usefixtures("installed")
def test_classes_have_the_names_by_which_keras_recognises_them():
    def is_recognised(value, name, module):
        return any(c.__name__ == name and module in c.__module__ for c in type(value).__mro__)

    assert is_recognised(tf.constant(1.0), "Tensor", "tensorflow.python.")
    assert is_recognised(tf.data.Dataset.range(3).map(abs), "DatasetV2", "tensorflow.python.data")


@pytest.mark.usefixtures("installed")
def test_which_objects_are_composite_tensors():
    internal = import_by_name("tensorflow").__internal__
    dataset = tf.data.Dataset.range(3)
    assert isinstance(tf.Variable(1.0), internal.CompositeTensor)
    assert isinstance(dataset, internal.CompositeTensor)
    assert isinstance(iter(dataset), internal.CompositeTensor)
    assert not isinstance(tf.constant(1.0), internal.CompositeTensor)
    assert not tf.is_tensor(dataset)
    assert not tf.is_tensor(iter(dataset))
    assert isinstance(tf.constant(1.0), internal.types.Tensor)


def test_uninstalling_restores_everything():
    before = tf.Tensor.__module__, tf.data.Dataset.__name__, list(sys.meta_path)
    tf.install()
    import_by_name("tensorflow.data")
    tf.uninstall()
    assert (tf.Tensor.__module__, tf.data.Dataset.__name__, list(sys.meta_path)) == before
    assert not [name for name in sys.modules if name.split(".")[0] == "tensorflow"]
    tf.uninstall()


def test_a_second_install_changes_nothing():
    with tf.install():
        with tf.install():
            pass
        assert import_by_name("tensorflow").Tensor is tf.Tensor
    assert "tensorflow" not in sys.modules


def test_installing_after_tensorflow_was_imported_is_an_error(monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorflow", ModuleType("tensorflow"))
    with pytest.raises(ImportError, match="before the first"):
        tf.install()


def test_without_keras_the_error_names_the_extra(monkeypatch):
    def absent(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", absent)
    with pytest.raises(ImportError, match=r"gradtape\[keras\]"):
        tf.keras  # noqa: B018


@pytest.mark.parametrize(
    ("version", "runs"),
    [("3.14.9", False), ("3.15.0", True), ("3.15.1.post1", True), ("3.16.0", False)],
)
def test_versions_of_keras(monkeypatch, version, runs):
    monkeypatch.setattr(metadata, "version", lambda name: version)
    if runs:
        keras.check_version()
    else:
        with pytest.raises(ImportError, match=rf"keras>=3\.15,<3\.16\. Found {version}"):
            keras.check_version()


def test_the_error_of_a_missing_name_contains_it():
    with pytest.raises(AttributeError, match=r"tf\.frobnicate"):
        tf.frobnicate  # noqa: B018


def python(*arguments):
    command = [sys.executable, "-m", "gradtape", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_script_runs_on_gradtape(tmp_path):
    (tmp_path / "neighbour.py").write_text("value = 2.0\n")
    script = tmp_path / "train.py"
    script.write_text(
        "import sys\nimport tensorflow as tf\nfrom neighbour import value\n"
        "assert __name__ == '__main__'\n"
        "print(tf.constant(value) * float(sys.argv[1]), tf.__name__, sys.argv[0] == __file__)\n"
    )
    done = python(script, 3)
    assert done.stdout == "tf.Tensor(6.0, shape=(), dtype=float32) tensorflow True\n", done.stderr
    assert done.returncode == 0


def test_a_missing_script_is_an_error(tmp_path):
    done = python(tmp_path / "nothing.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert "does not exist" in done.stderr


def test_help_prints_the_usage():
    assert python("--help").stdout.startswith("usage: gradtape")


def test_code_runs_on_gradtape():
    done = python("-c", "import sys, tensorflow as tf; print(tf.ones(1).shape, sys.argv)", "a")
    assert done.stdout == "(1,) ['-c', 'a']\n", done.stderr


@pytest.mark.usefixtures("installed")
def test_metadata_and_specs_agree_with_the_imported_module():
    assert metadata.version("tensorflow") == import_by_name("tensorflow").__version__
    assert metadata.distribution("tensorflow").metadata["Name"] == "tensorflow"
    assert "tensorflow" in {d.metadata["Name"] for d in metadata.distributions()}
    assert importlib.util.find_spec("tensorflow") is import_by_name("tensorflow").__spec__
    assert importlib.util.find_spec("tensorflow.math").name == "tensorflow.math"
    assert importlib.util.find_spec("tensorflow.lite") is None


def test_after_uninstalling_there_is_no_tensorflow():
    with tf.install():
        import_by_name("tensorflow")
    assert importlib.util.find_spec("tensorflow") is None
    with pytest.raises(metadata.PackageNotFoundError):
        metadata.version("tensorflow")


def test_the_notebook_extension_installs_and_uninstalls():
    tf.load_ipython_extension(None)
    assert import_by_name("tensorflow").Tensor is tf.Tensor
    tf.unload_ipython_extension(None)
    assert "tensorflow" not in sys.modules


def run_in_new_process(code, **environment):
    command = [sys.executable, "-c", code]
    env = {**os.environ, **environment}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=env)


def test_an_environment_variable_installs():
    code = "import gradtape, tensorflow; print(tensorflow.__name__)"
    assert run_in_new_process(code, GRADTAPE_INSTALL="1").stdout == "tensorflow\n"
    assert run_in_new_process(code, GRADTAPE_INSTALL="0").returncode == 1


def test_importing_gradtape_alone_installs_nothing():
    code = (
        "import gradtape as tf, sys, importlib.util\n"
        "tf.ones(2) + 1\n"
        "print([n for n in sys.modules if n.startswith('tensorflow')], "
        "importlib.util.find_spec('tensorflow'), "
        "[f for f in sys.meta_path if 'gradtape' in str(f)])"
    )
    assert run_in_new_process(code).stdout == "[] None []\n"
