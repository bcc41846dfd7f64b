"""All measurements as one table: ``python -m tests.bench``, or ``python -m tests.bench auth ledger`` for some of them.

``--save PAGE`` puts the table, with day and machine, in the place of the last one in that page.
"""

import argparse
import os
import platform
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from tests.bench.figures import HEAD

BENCHMARKS = (
    *(
        "imports",
        "statements",
        "ledger",
        "auth",
        "analytics",
        "forecasts",
        "receivables",
        "recurrence",
        "rules",
        "exports",
    ),
    *("webhooks", "events", "assistants", "pages", "fairness", "closings", "sandbox", "scenarios", "invoices"),
)
MARKS = "<!-- measured -->", "<!-- end of measured -->"


def describe_machine() -> str:
    """What it ran on, in a line."""
    model = (
        re.search(r"model name\s*: (.+)", Path("/proc/cpuinfo").read_text()) if Path("/proc/cpuinfo").exists() else None
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{datetime.now(tz=UTC):%d %b %Y}, {os.cpu_count()} × {model[1].strip() if model else platform.machine()}, "
        f"{memory:.0f} GiB, {platform.system()}, Python {platform.python_version()}"
    )


def run_benchmark(name: str) -> list[str]:
    """The rows of one measurement, shown as they come."""
    results = []
    with subprocess.Popen([sys.executable, "-m", f"tests.bench.{name}"], stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout or ():
            sys.stdout.write(line)
            sys.stdout.flush()
            results.append(line)
    if process.returncode:
        sys.exit(process.returncode)
    return results


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Measure and print a table.")
    parser.add_argument("names", nargs="*", metavar="name", help=f"some of: {', '.join(BENCHMARKS)} (default: all)")
    parser.add_argument("--save", type=Path, metavar="PAGE", help="page whose table is replaced")
    options = parser.parse_args(arguments)
    if unknown := set(options.names) - set(BENCHMARKS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    sys.stdout.write(f"{describe_machine()}\n\n{HEAD}")
    table = "".join(line for name in options.names or BENCHMARKS for line in run_benchmark(name))
    if options.save is not None:
        before, rest = options.save.read_text().split(MARKS[0])
        after = rest.split(MARKS[1])[1]
        options.save.write_text(f"{before}{MARKS[0]}\n{describe_machine()}\n\n{HEAD}{table}{MARKS[1]}{after}")


if __name__ == "__main__":
    main(sys.argv[1:])
