"""What pages show of changes: the tables of the audit log and of histories."""

import re
from html import unescape
from typing import Any, NamedTuple


class ShownChange(NamedTuple):
    """A change as its part of the table shows it; the fields as {label: (before, after)}, "—" without a value."""

    label: str
    name: str
    actor: str
    fields: dict[str, tuple[str, str]]


def list_changes(answer: Any) -> list[ShownChange]:
    """The changes of a page, from the first to the last."""
    changes = []
    for part, rows in zip(find_parts(answer), list_change_rows(answer), strict=True):
        heading = part.partition("</tr>")[0]
        label, name, actor = (
            get_text(next(iter(re.findall(pattern, heading, re.DOTALL)), ""))
            for pattern in (r"<strong>(.*?)</strong>", r"</strong>\s*<span>(.*?)</span>", r'class="meta">(.*?)·')
        )
        changes.append(ShownChange(label, name, actor, {field: (before, after) for field, before, after in rows}))
    return changes


def list_change_rows(answer: Any) -> list[list[tuple[str, str, str]]]:
    """The rows of each change of a page: field, before and after."""
    parts = (re.findall(r'<tr(?: class="wide-only")?>(.*?)</tr>', part, re.DOTALL) for part in find_parts(answer))
    cells = ([re.findall(r'<t[hd](?: \w+="\w+")?>(.*?)</t', row, re.DOTALL) for row in rows] for rows in parts)
    return [[(get_text(one), get_text(two), get_text(three)) for one, two, three in rows] for rows in cells]


def find_parts(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer
    table: str = answer.content.decode().partition('<div class="card changes">')[2].partition("</table>")[0]
    return table.split("<tbody>")[1:]


def get_text(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())
