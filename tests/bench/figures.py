"""One figure a line, as rows of one table: what was measured, its ratio within the run, the goal, what lies behind."""

import sys

HEAD = "| What | Ratio | Goal | Behind it |\n|---|---|---|---|\n"
AT_LEAST, AT_MOST = "≥", "≤"


def print_figure(
    what: str, ratio: float, unit: str, *, goal: float | None = None, way: str = AT_LEAST, behind: str = ""
) -> None:
    """Prints a row; a goal that is missed is marked, and fails nothing."""
    shown = f"{ratio:.3f}" if abs(ratio) < 0.2 else f"{ratio:.2f}" if abs(ratio) < 10 else f"{ratio:.0f}"
    wanted = ""
    if goal is not None:
        met = ratio >= goal if way == AT_LEAST else ratio <= goal
        wanted = f"{way} {goal:g}{'' if met else ' **missed**'}"
    sys.stdout.write(f"| {what} | {shown} {unit} | {wanted} | {behind} |\n")
    sys.stdout.flush()
