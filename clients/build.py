"""Build the API clients from the OpenAPI document.

``python clients/build.py openapi.json`` writes clients/python/tidebook/generated, and
clients/typescript/dist if its packages are installed. Neither is committed: they have 70,000 lines.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

CLIENTS_DIR = Path(__file__).parent
BIN_DIR = Path(sys.executable).parent  # the generator calls ruff from there


def build_python_client(document: Path, package: Path) -> str:
    """Write `generated` into `package/tidebook`; return the generator's output.

    Raises:
        CalledProcessError: the generator failed or warned.
    """
    command = [
        *(BIN_DIR / "openapi-python-client", "generate", "--meta", "none", "--fail-on-warning", "--overwrite"),
        *("--path", document, "--config", package / "generator.yaml"),
        *("--output-path", package / "tidebook" / "generated"),
    ]
    return run_command(command, cwd=package)


def build_typescript_client(document: Path, package: Path) -> str:
    """Write `src/api.d.ts` and `dist`; return the output of generator and compiler.

    Raises:
        CalledProcessError: one of them failed.
    """
    binaries = package / "node_modules" / ".bin"
    # Fields with a default are optional in requests.
    options = ["--default-non-nullable", "false", "--output", package / "src" / "api.d.ts"]
    generator_output = run_command([binaries / "openapi-typescript", document, *options], cwd=package)
    compiler_output = run_command([binaries / "tsc", "--project", package], cwd=package)
    shutil.copy(package / "src" / "api.d.ts", package / "dist" / "api.d.ts")  # the compiler does not copy declarations
    return generator_output + compiler_output


def run_command(command: list[Path | str], *, cwd: Path) -> str:
    path = os.pathsep.join([str(BIN_DIR), os.environ["PATH"]])
    result = subprocess.run(  # noqa: S603 - the words are ours
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if result.returncode:
        raise subprocess.CalledProcessError(result.returncode, command, output=result.stdout)
    return result.stdout


if __name__ == "__main__":
    source = Path(sys.argv[1]).resolve()
    try:
        build_python_client(source, CLIENTS_DIR / "python")
        if (CLIENTS_DIR / "typescript" / "node_modules" / ".bin").is_dir():
            build_typescript_client(source, CLIENTS_DIR / "typescript")
    except subprocess.CalledProcessError as error:
        sys.exit(error.output)
