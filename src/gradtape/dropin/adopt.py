"""`gradtape adopt`: a small package `tensorflow` on disk that means gradtape."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Iterable
from importlib import metadata
from importlib.machinery import PathFinder
from pathlib import Path

ADOPT_USAGE = "usage: gradtape adopt [--remove] [--also NAME ...] [--target FOLDER]\n"
PACKAGE = "tensorflow"
# Distributions that contain TensorFlow
VARIANTS = "cpu|cpu-aws|gpu|intel|macos|rocm|directml|directml-plugin|aarch64"
REAL_NAMES = re.compile(
    rf"(tensorflow(-({VARIANTS}))?|tf-nightly(-.*)?|intel-tensorflow(-.*)?)$", re.ASCII
)
ALSO_NAMES = ("tensorflow-cpu", "tensorflow-intel", "tensorflow-macos")
INSTALLER = "gradtape"
MARK = "# written by `gradtape adopt`"
TEMPORARY = ".gradtape-adopt-"

MODULE_TEXT = f'''{MARK}: this package is gradtape, not TensorFlow.
"""gradtape in place of TensorFlow. `gradtape adopt --remove` removes this package."""

try:
    from gradtape.dropin.adopted import activate
except ModuleNotFoundError as error:
    if error.name != "gradtape":
        raise
    raise ModuleNotFoundError(
        "The package tensorflow of this environment stands for gradtape, and gradtape is missing. "
        "Run `pip install gradtape`, or `pip uninstall tensorflow` to remove this package.",
        name=error.name,
    ) from error

activate()
'''

METADATA_TEXT = """Metadata-Version: 2.1
Name: {name}
Version: {version}
Summary: {summary}
Keywords: gradtape
Requires-Dist: {requirement}

This distribution is not TensorFlow. `gradtape adopt` wrote it, so that `import tensorflow` means
gradtape in this environment and packages that require TensorFlow can be installed.
`gradtape adopt --remove` and `pip uninstall {name}` remove it.
"""
WHEEL_TEXT = "Wheel-Version: 1.0\nGenerator: gradtape\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


class AdoptError(Exception):
    """The environment cannot be changed; the message says why and what to do."""


def adopt_environment(arguments: list[str]) -> int:
    """Put the package `tensorflow` into this environment, or remove it.

    Returns:
        0; 1 if the environment does not allow it; 2 if the arguments are wrong.
    """
    options = parse_arguments(arguments)
    if options is None:
        sys.stderr.write(ADOPT_USAGE)
        return 2
    remove, also, folder = options
    try:
        site = find_site(folder)
        text = remove_packages(site) if remove else write_packages(site, also)
    except (AdoptError, OSError) as error:
        sys.stderr.write(f"gradtape adopt: {error}\n")
        return 1
    sys.stdout.write(text)
    return 0


def parse_arguments(arguments: list[str]) -> tuple[bool, list[str], str | None] | None:
    """Whether to remove, further names and the folder; None if the arguments are wrong."""
    remove, also, folder = False, [], None
    rest = list(arguments)
    while rest:
        option = rest.pop(0)
        if option == "--remove":
            remove = True
        elif option == "--also" and rest and rest[0] in ALSO_NAMES:
            also.append(rest.pop(0))
        elif option == "--target" and rest:
            folder = rest.pop(0)
        else:
            return None
    return None if remove and also else (remove, also, folder)


def find_site(folder: str | None) -> Path:
    """The folder for packages: `folder`, or that of the running environment.

    Raises:
        AdoptError: if the folder does not exist or cannot be written, or if the operating system
            manages this Python.
    """
    site = Path(folder or sysconfig.get_path("purelib"))
    managed = Path(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED")
    if folder is None and sys.prefix == sys.base_prefix and managed.exists():
        raise AdoptError(
            "the operating system manages the packages of this Python. "
            "Run the command in a virtual environment."
        )
    if not site.is_dir() or not os.access(site, os.W_OK):
        raise AdoptError(
            f"the folder {site} must exist and be writable. Run the command in a virtual "
            "environment, or name a folder of sys.path with --target."
        )
    return site


def write_packages(site: Path, also: Iterable[str] = ()) -> str:
    """Write the package with its metadata; return what to tell the user.

    Raises:
        AdoptError: if TensorFlow, or another package of that name, is installed.
    """
    refuse_tensorflow(site)
    names = [PACKAGE, *sorted({*also, *find_own_names(site)} - {PACKAGE})]
    version = tensorflow_version()
    files = {Path(PACKAGE, "__init__.py"): MODULE_TEXT}
    for name in names:
        files.update(
            make_metadata(name, version, {k: v for k, v in files.items() if name == PACKAGE})
        )
    told = f"`import tensorflow` means gradtape in {site} (as {', '.join(names)} {version})."
    if is_complete(site, files):
        return f"{told} Nothing had to be changed.\n"
    remove_own(site)
    place_files(site, files)
    keras = (
        "" if PathFinder.find_spec("keras") else " Keras is missing: pip install 'gradtape[keras]'."
    )
    return f"{told}{keras} Remove it with `gradtape adopt --remove`.\n"


def remove_packages(site: Path) -> str:
    """Remove what `write_packages` wrote, also if it is incomplete."""
    names = remove_own(site)
    return (
        f"Removed {', '.join(names)} from {site}.\n" if names else f"Nothing to remove in {site}.\n"
    )


def tensorflow_version() -> str:
    """The version of TensorFlow that gradtape follows."""
    from gradtape.tf.api.version import VERSION

    return VERSION


def make_metadata(name: str, version: str, modules: dict[Path, str]) -> dict[Path, str]:
    """The files of a `.dist-info` folder for these modules."""
    folder = Path(f"{name.replace('-', '_')}-{version}.dist-info")
    own = name == PACKAGE
    files = {
        folder / "METADATA": METADATA_TEXT.format(
            name=name,
            version=version,
            summary=f"gradtape in place of {'TensorFlow' if own else name}",
            requirement="gradtape" if own else PACKAGE,
        ),
        folder / "WHEEL": WHEEL_TEXT,
        folder / "INSTALLER": f"{INSTALLER}\n",
    }
    record = [make_record_line(path, text) for path, text in {**modules, **files}.items()]
    files[folder / "RECORD"] = "".join([*record, f"{(folder / 'RECORD').as_posix()},,\n"])
    return files


def make_record_line(path: Path, text: str) -> str:
    """A line of RECORD: path, hash and size."""
    data = text.encode()
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{path.as_posix()},sha256={digest},{len(data)}\n"


def refuse_tensorflow(site: Path) -> None:
    """Raise AdoptError if a TensorFlow is installed that gradtape did not write."""
    for distribution in list_distributions([str(site), *sys.path]):
        name = normalize_name(distribution.metadata["Name"])
        if REAL_NAMES.match(name) and not is_own(distribution):
            raise AdoptError(
                f"{name} {distribution.version} is installed here. Remove it first "
                f"(pip uninstall {name}), or use `gradtape run`, which needs no change."
            )
    spec = PathFinder.find_spec(PACKAGE, [str(site), *sys.path])
    modules = [Path(spec.origin)] if spec is not None and spec.origin else []
    folder = site / PACKAGE
    for path in [*modules, *(list_contents(folder) if folder.is_dir() else ())]:
        if not (path.name == "__init__.py" and is_own_module(path)):
            raise AdoptError(
                f"{path} belongs to another package tensorflow. Remove that package first."
            )


def list_contents(folder: Path) -> list[Path]:
    """The entries of a folder, without the cache of compiled modules."""
    return [path for path in folder.iterdir() if path.name != "__pycache__"]


def list_distributions(paths: list[str]) -> list[metadata.Distribution]:
    """The distributions on disk that have a name; `gradtape.install` adds none to them."""
    context = metadata.DistributionFinder.Context(path=paths)
    found = metadata.MetadataPathFinder.find_distributions(context)
    return [d for d in found if d.metadata["Name"]]


def normalize_name(name: str) -> str:
    """A name of a distribution as PyPI compares names."""
    return re.sub(r"[-_.]+", "-", name).lower()


def is_own(distribution: metadata.Distribution) -> bool:
    """Whether `gradtape adopt` wrote a distribution, or began to."""
    return (distribution.read_text("INSTALLER") or "").strip() == INSTALLER


def is_own_module(path: Path) -> bool:
    """Whether `gradtape adopt` wrote a module."""
    return path.is_file() and path.read_text(errors="replace").startswith(MARK)


def find_own_names(site: Path) -> list[str]:
    """The names under which gradtape is adopted in `site`."""
    found = list_distributions([str(site)])
    return sorted(normalize_name(d.metadata["Name"]) for d in found if is_own(d))


def is_complete(site: Path, files: dict[Path, str]) -> bool:
    """Whether `site` has exactly these files of ours."""
    folders = {path.parts[0] for path in files if path.parts[0] != PACKAGE}
    return {p.name for p in list_own_metadata(site)} == folders and all(
        (site / path).is_file() and (site / path).read_bytes() == text.encode()
        for path, text in files.items()
    )


def list_own_metadata(site: Path) -> list[Path]:
    """The `.dist-info` folders in `site` that `gradtape adopt` wrote."""
    found = sorted(site.glob("tensorflow*.dist-info"))
    return [p for p in found if is_own(metadata.PathDistribution(p))]


def place_files(site: Path, files: dict[Path, str]) -> None:
    """Write the files into a temporary folder of `site`, then rename its parts into place.

    The metadata come first, so pip can remove every state that an interruption leaves.
    """
    with tempfile.TemporaryDirectory(prefix=TEMPORARY, dir=site) as temporary:
        for path, text in files.items():
            target = Path(temporary, path)
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(text.encode())
        parts = sorted({path.parts[0] for path in files}, key=lambda part: part == PACKAGE)
        for part in parts:
            os.rename(Path(temporary, part), site / part)


def remove_own(site: Path) -> list[str]:
    """Remove the package, its metadata and what interruptions left; return the names.

    Folders are renamed before their files are deleted: an interruption leaves no half of them.
    """
    names = find_own_names(site)
    package = site / PACKAGE
    module = package / "__init__.py"
    doomed = list_own_metadata(site)
    if is_own_module(module):
        names = names or [PACKAGE]
        if list_contents(package) == [module]:
            doomed.insert(0, package)
        else:  # the user put other files there
            module.unlink()
    elif names and package.is_dir() and not list_contents(package):
        doomed.insert(0, package)
    for folder in doomed:
        temporary = tempfile.mkdtemp(prefix=TEMPORARY, dir=site)
        os.rename(folder, Path(temporary, folder.name))
    for left in site.glob(f"{TEMPORARY}*"):
        shutil.rmtree(left)
    return names
