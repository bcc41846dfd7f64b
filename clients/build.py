"""Makes what the clients lack in the repository: code and types from the OpenAPI document.

``python clients/build.py openapi.json`` writes clients/python/tidebook/generated, and clients/typescript/dist where its
packages are installed. Both are made by well-kept generators and stand in no commit: they are 70,000 lines.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
BIN = Path(sys.executable).parent  # the generator calls ruff, which lies beside


def python(document: Path, package: Path) -> str:
    """Writes ``generated`` into the package ``package/tidebook``; what the generator said. Raises CalledProcessError,
    also for a mere warning."""
    command = [
        *(BIN / "openapi-python-client", "generate", "--meta", "none", "--fail-on-warning", "--overwrite"),
        *("--path", document, "--config", package / "generator.yaml"),
        *("--output-path", package / "tidebook" / "generated"),
    ]
    return said(command, cwd=package)


def typescript(document: Path, package: Path) -> str:
    """Writes ``src/api.d.ts`` and ``dist``; what the generator and the compiler said. Raises CalledProcessError."""
    binaries = package / "node_modules" / ".bin"
    # What has a default may be left out of a request.
    options = ["--default-non-nullable", "false", "--output", package / "src" / "api.d.ts"]
    made = said([binaries / "openapi-typescript", document, *options], cwd=package)
    compiled = said([binaries / "tsc", "--project", package], cwd=package)
    shutil.copy(package / "src" / "api.d.ts", package / "dist" / "api.d.ts")  # the compiler leaves declarations out
    return made + compiled


def said(command: list[Path | str], *, cwd: Path) -> str:
    path = os.pathsep.join([str(BIN), os.environ["PATH"]])
    done = subprocess.run(  # noqa: S603 - the words are ours
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise subprocess.CalledProcessError(done.returncode, command, output=done.stdout)
    return done.stdout


if __name__ == "__main__":
    source = Path(sys.argv[1]).resolve()
    try:
        python(source, HERE / "python")
        if (HERE / "typescript" / "node_modules" / ".bin").is_dir():
            typescript(source, HERE / "typescript")
    except subprocess.CalledProcessError as error:
        sys.exit(error.output)
