"""`gradtape adopt`: a package `tensorflow` on disk that means gradtape."""

import base64
import hashlib
import os
import subprocess
import sys
import sysconfig
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import pytest

import gradtape
from gradtape.dropin import adopt
from gradtape.dropin.command import main
from gradtape.dropin.info import find_version

SOURCE = str(Path(gradtape.__file__).parents[1])
VERSION = gradtape.__version__


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder for packages; a TensorFlow of this interpreter is not seen."""
    folder = tmp_path / "site"
    folder.mkdir()
    other = [path for path in sys.path if not path.endswith("site-packages")]
    monkeypatch.setattr(sys, "path", [str(folder), *other])
    return folder


def list_files(folder):
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def run_python(site, code, *options, **environment):
    """Run code in a process that has the packages of `site`."""
    path = os.pathsep.join([str(site), SOURCE])
    env = {**os.environ, "PYTHONPATH": path, **environment}
    env.pop("GRADTAPE_INSTALL", None)
    command = [sys.executable, *options, "-c", code]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def write_distribution(site, name, version="2.21.0", installer="pip\n"):
    folder = site / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (folder / "INSTALLER").write_text(installer)


def test_adopt_writes_a_package_and_remove_deletes_all_of_it(site, capsys):
    assert main(["adopt", "--target", str(site)]) == 0
    info = f"tensorflow-{VERSION}.dist-info"
    names = ["INSTALLER", "METADATA", "RECORD", "WHEEL"]
    assert list_files(site) == [*(f"{info}/{n}" for n in names), "tensorflow/__init__.py"]
    assert main(["adopt", "--remove", "--target", str(site)]) == 0
    assert list(site.iterdir()) == []
    assert "Removed tensorflow" in capsys.readouterr().out
    assert main(["adopt", "--remove", "--target", str(site)]) == 0
    assert "Nothing to remove" in capsys.readouterr().out


def test_import_tensorflow_means_gradtape(site):
    main(["adopt", "--target", str(site)])
    done = run_python(
        site,
        "import tensorflow as tf, gradtape, tensorflow.math\n"
        "from tensorflow.python.framework.ops import EagerTensor\n"
        "import tensorflow.compat.v2\n"
        "from importlib.metadata import version\n"
        "print(tf.Tensor is gradtape.Tensor, type(tf.constant(1)).__module__, tf.__version__)\n"
        "print(version('tensorflow'), tf, isinstance(tf.constant(1.0), EagerTensor))",
    )
    assert done.stdout.splitlines() == [
        f"True tensorflow.python.framework.ops {VERSION}",
        f"{VERSION} <module 'tensorflow' (gradtape)> True",
    ], done.stderr


def test_an_import_of_a_submodule_alone_works(site):
    main(["adopt", "--target", str(site)])
    code = "import tensorflow.data\nprint(tensorflow.data.Dataset.range(3).cardinality().numpy())"
    assert run_python(site, code).stdout == "3\n"


def test_importing_twice_and_after_uninstall_works(site):
    main(["adopt", "--target", str(site)])
    code = (
        "import tensorflow as a, gradtape\n"
        "gradtape.install()\n"
        "import tensorflow as b\n"
        "gradtape.uninstall()\n"
        "import tensorflow as c\n"
        "print(a is b, a.Tensor is c.Tensor)"
    )
    assert run_python(site, code).stdout == "True True\n"


def test_record_lists_every_file_with_its_hash(site):
    main(["adopt", "--target", str(site), "--also", "tensorflow-cpu"])
    listed = []
    for distribution in metadata.distributions(path=[str(site)]):
        for file in distribution.files:
            listed.append(str(file))
            data = file.locate().read_bytes()
            if file.hash is not None:
                digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
                assert file.hash.value == digest.rstrip(b"=").decode()
                assert file.size == len(data)
    assert sorted(listed) == list_files(site)


def test_the_metadata_say_that_it_is_gradtape(site):
    main(["adopt", "--target", str(site)])
    (found,) = metadata.distributions(path=[str(site)])
    assert found.metadata["Name"] == "tensorflow"
    assert found.version == VERSION
    assert "gradtape" in found.metadata["Summary"]
    assert found.requires == ["gradtape"]
    assert "not TensorFlow" in found.metadata.get_payload()
    assert not found.entry_points


def test_info_says_that_tensorflow_is_gradtape(site, monkeypatch):
    assert find_version("tensorflow") == "not installed"
    main(["adopt", "--target", str(site)])
    assert find_version("tensorflow") == f"{VERSION} (gradtape adopt)"


def test_adopting_twice_changes_nothing(site, capsys):
    main(["adopt", "--target", str(site), "--also", "tensorflow-cpu"])
    before = {p: p.stat().st_mtime_ns for p in site.rglob("*")}
    assert main(["adopt", "--target", str(site)]) == 0
    assert "Nothing had to be changed" in capsys.readouterr().out
    assert {p: p.stat().st_mtime_ns for p in site.rglob("*")} == before


def test_further_names_are_metadata_only(site):
    main(["adopt", "--target", str(site), "--also", "tensorflow-cpu"])
    found = {d.metadata["Name"]: d for d in metadata.distributions(path=[str(site)])}
    assert sorted(found) == ["tensorflow", "tensorflow-cpu"]
    assert found["tensorflow-cpu"].requires == ["tensorflow"]
    main(["adopt", "--remove", "--target", str(site)])
    assert list(site.iterdir()) == []


@pytest.mark.parametrize(
    "name",
    ["tensorflow", "tensorflow-cpu", "tensorflow_intel", "tf-nightly", "intel-tensorflow-avx512"],
)
def test_it_refuses_where_tensorflow_is_installed(site, name, capsys):
    write_distribution(site, name)
    before = list_files(site)
    assert main(["adopt", "--target", str(site)]) == 1
    assert "is installed here" in capsys.readouterr().err
    assert list_files(site) == before
    assert main(["adopt", "--remove", "--target", str(site)]) == 0
    assert list_files(site) == before


@pytest.mark.parametrize("name", ["tensorflow-probability", "tensorflow-datasets", "tf-keras"])
def test_packages_that_need_tensorflow_are_no_tensorflow(site, name):
    write_distribution(site, name)
    assert main(["adopt", "--target", str(site)]) == 0


def test_it_refuses_another_package_of_that_name(site, capsys):
    (site / "tensorflow").mkdir()
    (site / "tensorflow" / "data.bin").write_text("")
    assert main(["adopt", "--target", str(site)]) == 1
    assert "data.bin" in capsys.readouterr().err
    (site / "tensorflow" / "data.bin").unlink()
    (site / "tensorflow" / "__init__.py").write_text("__version__ = '2'\n")
    assert main(["adopt", "--target", str(site)]) == 1
    assert main(["adopt", "--remove", "--target", str(site)]) == 0
    assert list_files(site) == ["tensorflow/__init__.py"]


@pytest.mark.parametrize("lost", ["package", "metadata", "record", "old module"])
def test_a_half_written_state_is_completed_or_removed(site, lost):
    main(["adopt", "--target", str(site)])
    whole = list_files(site)
    for finish in ([], ["--remove"]):
        if lost == "package":
            (site / "tensorflow" / "__init__.py").unlink()
        elif lost == "metadata":
            for path in site.glob("*.dist-info/*"):
                path.unlink()
            next(site.glob("*.dist-info")).rmdir()
        elif lost == "record":
            next(site.glob("*.dist-info/RECORD")).unlink()
        else:
            module = site / "tensorflow" / "__init__.py"
            module.write_text(module.read_text() + "# older\n")
        (site / ".gradtape-adopt-left").mkdir()
        assert main(["adopt", *finish, "--target", str(site)]) == 0
        assert list_files(site) == ([] if finish else whole)
        assert not list(site.glob(".gradtape-adopt-*"))
    assert list(site.iterdir()) == []


@pytest.mark.parametrize("step", range(5))
def test_an_interruption_leaves_a_state_that_can_be_completed(site, step, monkeypatch):
    main(["adopt", "--target", str(site)])
    whole = list_files(site)
    (site / "tensorflow" / "__init__.py").write_text(adopt.MARK)  # an older one is replaced
    rename, done = os.rename, []

    def rename_until_step(old, new):
        if len(done) == step:
            raise KeyboardInterrupt
        done.append(rename(old, new))

    with monkeypatch.context() as patch:
        patch.setattr(adopt.os, "rename", rename_until_step)
        try:
            main(["adopt", "--target", str(site)])
        except KeyboardInterrupt:
            assert step < 4
    assert main(["adopt", "--target", str(site)]) == 0
    assert list_files(site) == whole


def test_other_files_in_the_package_stay(site):
    main(["adopt", "--target", str(site)])
    (site / "tensorflow" / "notes.txt").write_text("mine")
    assert main(["adopt", "--remove", "--target", str(site)]) == 0
    assert list_files(site) == ["tensorflow/notes.txt"]


@pytest.mark.parametrize(
    "arguments", [["--explode"], ["--also"], ["--also", "keras"], ["--remove", "--also", "x"]]
)
def test_wrong_arguments_are_an_error(arguments, capsys):
    assert main(["adopt", *arguments]) == 2
    assert "usage" in capsys.readouterr().err


def test_a_missing_folder_is_an_error(tmp_path, capsys):
    assert main(["adopt", "--target", str(tmp_path / "none")]) == 1
    assert "must exist" in capsys.readouterr().err


def test_a_python_of_the_operating_system_is_left_alone(tmp_path, monkeypatch, capsys):
    (tmp_path / "EXTERNALLY-MANAGED").write_text("")
    monkeypatch.setattr(adopt.sysconfig, "get_path", lambda name: str(tmp_path))
    monkeypatch.setattr(adopt.sys, "base_prefix", sys.prefix)
    assert main(["adopt"]) == 1
    assert "virtual environment" in capsys.readouterr().err


def test_a_library_that_works_without_tensorflow_does_not_see_it(site):
    main(["adopt", "--target", str(site)])
    (site / "transformers").mkdir()
    (site / "transformers" / "__init__.py").write_text(
        "try:\n    import tensorflow\nexcept ImportError as error:\n    tensorflow = None\n"
    )
    code = "import transformers, tensorflow\nprint(transformers.tensorflow, tensorflow.add(1, 1))"
    done = run_python(site, code)
    assert done.stdout == "None tf.Tensor(2, shape=(), dtype=int32)\n", done.stderr


def test_an_environment_variable_hides_it(site):
    main(["adopt", "--target", str(site)])
    done = run_python(site, "import tensorflow", GRADTAPE_ADOPTED="0")
    assert "ModuleNotFoundError: No module named 'tensorflow'" in done.stderr


def test_without_gradtape_the_import_says_what_to_do(site):
    main(["adopt", "--target", str(site)])
    done = run_python(site, "import tensorflow", "-S", PYTHONPATH=str(site))
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ModuleNotFoundError")
    assert "pip uninstall tensorflow" in last


@pytest.mark.skipif(find_spec("ensurepip") is None, reason="this Python cannot make environments")
def test_pip_lists_checks_and_uninstalls_it(tmp_path):
    """In a new environment: a requirement is satisfied, and pip uninstall leaves nothing."""
    environment = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    python = environment / ("Scripts" if os.name == "nt" else "bin") / "python"
    env = {k: v for k, v in os.environ.items() if k != "GRADTAPE_INSTALL"}
    env["PYTHONPATH"] = os.pathsep.join([SOURCE, sysconfig.get_path("purelib")])

    def run(*command):
        return subprocess.run(
            [str(python), "-m", *command], env=env, capture_output=True, text=True, check=False
        )

    if find_spec("tensorflow") is None:
        done = run("gradtape", "adopt", "--also", "tensorflow-cpu")
        assert done.returncode == 0, done.stderr
        shown = run("pip", "show", "-f", "tensorflow").stdout
        assert "Summary: gradtape in place of TensorFlow" in shown
        assert "tensorflow/__init__.py" in shown
        asked = ["install", "--no-index", "--dry-run", "tensorflow>=2.4,<2.22", "tensorflow-cpu"]
        assert run("pip", *asked).returncode == 0
        assert "tensorflow" not in run("pip", "check").stdout.replace("gradtape", "")
        found = run("gradtape", "-c", "import tensorflow").returncode
        assert found == 0
        done = run("pip", "uninstall", "-y", "tensorflow", "tensorflow-cpu")
        assert done.returncode == 0, done.stderr
        paths = {"base": str(environment), "platbase": str(environment)}
        assert not list(Path(sysconfig.get_path("purelib", vars=paths)).glob("tensorflow*"))
