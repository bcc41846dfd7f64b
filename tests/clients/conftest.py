"""The clients, made of the document of this checkout once in a run."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.client_packages import Generated, build, built, package_of, read_examples
from tests.npm import TESTS_FOLDER, install_packages
from tests.prepared_folder import get_run_folder, prepare_folder


def install_python_client(folder: Path) -> None:
    """Install the client into ``site``, beside the document."""
    package, document = package_of("python", folder)
    assert "arning" not in built(build.build_python_client, package, document)
    words = ["--no-deps", "--no-build-isolation", "--no-compile", "--quiet", "--disable-pip-version-check"]
    pip = [sys.executable, "-m", "pip", "install", *words, "--target", folder / "site", package]
    subprocess.run(pip, check=True, timeout=300)


@pytest.fixture(scope="session")
def python_shelf(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A directory with the document in it, and with the client installed into ``site``."""
    return prepare_folder(get_run_folder(tmp_path_factory, worker_id), "python-client", install_python_client)


@pytest.fixture(scope="module")
def generated(python_shelf: Path) -> Iterator[Generated]:
    """The Python client, imported."""
    sys.path.insert(0, str(python_shelf / "site"))
    yield Generated()
    sys.path.remove(str(python_shelf / "site"))


def read_typescript_samples() -> dict[str, str]:
    """Return {name of the source: its text} of what is compiled with the TypeScript client."""
    (example,) = read_examples("typescript", "js")
    sample = (TESTS_FOLDER / "openapi" / "sample.ts").read_text()
    return {
        "sample.ts": sample.replace('"./api"', '"./api.js"'),
        "readme.ts": example.replace('"tidebook"', '"./index.js"'),
    }


@pytest.fixture(scope="module")
def typescript_package(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The package with its types and its code made, and its npm packages beside it; each file of tests has its own.

    Compiled with it are a sample of what the types allow and forbid, and the example of the README.
    """
    npm_packages = install_packages("../clients/typescript", package="openapi-fetch") / "node_modules"

    def compile_client(folder: Path) -> None:
        package, document = package_of("typescript", folder)
        (package / "node_modules").symlink_to(npm_packages)
        for name, text in read_typescript_samples().items():  # another run of the compiler would take seconds
            (package / "src" / name).write_text(text)
        made = built(build.build_typescript_client, package, document)
        assert not [line for line in made.splitlines() if "⚠" in line or "arning" in line]

    prepared = prepare_folder(get_run_folder(tmp_path_factory, worker_id), "typescript-client", compile_client)
    return Path(
        shutil.copytree(prepared / "typescript", tmp_path_factory.mktemp("client") / "typescript", symlinks=True)
    )
