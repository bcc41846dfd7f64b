"""Read a documentation page as commands that can be run and the output they should print."""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.conftest import CLIENTS
from tests.machine import ROOT

FENCE = re.compile(r"^```(\w+)?([^\n]*)\n(.*?)^```$", re.M | re.S)
PLACEHOLDER_EXPORT = re.compile(r"^export (\w+)=\S*…$", re.M)
PROGRAMS: dict[str, tuple[list[str], str, Path | None]] = {
    "python": ([sys.executable], ".py", None),
    "js": (["node"], ".mjs", CLIENTS),
}
TIMEOUT_SECONDS = 600  # seconds: a machine may have much else to do
SAVE_SHELL_STATE = '{ declare -px; declare -f; } > "$KEPT"'


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, what stands behind the language, its text."""

    language: str
    remark: str
    text: str


def parse_blocks(page: Path) -> list[Block]:
    return [Block(match[1] or "", match[2].strip(), match[3]) for match in FENCE.finditer(page.read_text())]


@dataclass
class PageReader:
    """Somebody who follows a page to the letter, with one shell from its first line to its last.

    ``given`` holds what only a person knows: a line ``export NAME=…`` is filled in with what it returns for the shell's
    variables so far and the last output.
    """

    home: Path
    address: str
    environment: dict[str, str]
    given: dict[str, Callable[[dict[str, str], str], str]] = field(default_factory=dict)
    visit: Callable[[str], str] | None = None  # opens an address as a person does; where the browser ends up
    printed: str = ""
    known: dict[str, str] = field(default_factory=dict)

    def follow(self, page: Path) -> int:
        """Runs every command of the page and compares what is said to be printed; how many blocks were run."""
        ran = 0
        for block in parse_blocks(page):
            if block.language == "sh" and block.remark != "elsewhere":
                self.run(block.text)
                ran += 1
            elif block.language in PROGRAMS:
                self.run_program(block)
                ran += 1
            elif block.language == "json" and ran:
                assert matches_documented(json.loads(block.text), parse_last_json(self.printed)), (
                    f"{page.name} says\n{block.text}\nbut the commands print\n{self.printed}"
                )
        return ran

    def run(self, text: str) -> None:
        state = self.home / "state"
        filled = PLACEHOLDER_EXPORT.sub(self.fill_in, text.replace("http://127.0.0.1:8000", self.address))
        filled = filled.replace(".venv/bin/python", sys.executable)
        load = f'export KEPT="{state}"\n[ -f "$KEPT" ] && source "$KEPT" 2>/dev/null\n'
        script = f"{load}set -eo pipefail\n{filled}\n{SAVE_SHELL_STATE}\n"
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
        assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
        self.printed = done.stdout
        self.known = dict(re.findall(r'^declare -x (\w+)="(.*)"$', state.read_text(), re.M))

    def run_program(self, block: Block) -> None:
        """Runs a program that prints an address to open and reads where its user was sent."""
        assert self.visit is not None
        command, suffix, folder = PROGRAMS[block.language]
        with tempfile.NamedTemporaryFile("w", suffix=suffix, dir=folder or self.home) as file:
            file.write(block.text.replace("http://127.0.0.1:8000", self.address))
            file.flush()
            with subprocess.Popen(
                [*command, file.name], env=self.environment | self.known, cwd=folder or ROOT, text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            ) as program:  # fmt: skip
                assert program.stdin is not None
                assert program.stdout is not None
                address = program.stdout.readline().strip()
                answer = self.visit(address) if address.startswith("http") else ""
                self.printed, complaints = program.communicate(f"{answer}\n", timeout=TIMEOUT_SECONDS)
        assert program.returncode == 0, f"{block.text}\n{self.printed}\n{complaints}"

    def fill_in(self, found: re.Match[str]) -> str:
        return f"export {found[1]}={self.given[found[1]](self.known, self.printed)}"


def parse_last_json(printed: str) -> Any:
    """The last of the JSON values that were printed one after the other."""
    answer, rest, decoder = None, printed.strip(), json.JSONDecoder()
    while rest:
        answer, end = decoder.raw_decode(rest)
        rest = rest[end:].lstrip()
    return answer


def matches_documented(said: Any, printed: Any) -> bool:
    """Whether an answer is what a page says; an ellipsis stands for anything."""
    if said == "…":
        return True
    if isinstance(said, dict):
        keys = set(said) - {"…"}
        same = keys <= set(printed) if "…" in said else keys == set(printed)
        return same and all(matches_documented(said[key], printed[key]) for key in keys)
    if isinstance(said, list):
        return len(said) == len(printed) and all(map(matches_documented, said, printed))
    return bool(said == printed)


def build_environment(**more: str) -> dict[str, str]:
    """A shell of somebody else with our path, in which python3 is this program and no script that looks for one."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return {"LANG": "C.UTF-8", **more, "PATH": path}
