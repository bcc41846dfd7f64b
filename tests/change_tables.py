"""Read the tables of changes on audit log and history pages."""

import re
from html import unescape
from typing import Any, NamedTuple


class ShownChange(NamedTuple):
    """A change as the page shows it; fields are {label: (before, after)}, "—" without a value."""

    label: str
    name: str
    actor: str
    fields: dict[str, tuple[str, str]]


def list_changes(response: Any) -> list[ShownChange]:
    """Return the changes on a page, top to bottom."""
    changes = []
    for part, rows in zip(find_parts(response), list_change_rows(response), strict=True):
        heading = part.partition("</tr>")[0]
        label, name, actor = (
            get_text(next(iter(re.findall(pattern, heading, re.DOTALL)), ""))
            for pattern in (r"<strong>(.*?)</strong>", r"</strong>\s*<span>(.*?)</span>", r'class="meta">(.*?)·')
        )
        changes.append(ShownChange(label, name, actor, {field: (before, after) for field, before, after in rows}))
    return changes


def list_change_rows(response: Any) -> list[list[tuple[str, str, str]]]:
    """Return (field, before, after) of each row of each change on a page."""
    parts = (re.findall(r'<tr(?: class="wide-only")?>(.*?)</tr>', part, re.DOTALL) for part in find_parts(response))
    cells = ([re.findall(r'<t[hd](?: \w+="\w+")?>(.*?)</t', row, re.DOTALL) for row in rows] for rows in parts)
    return [[(get_text(one), get_text(two), get_text(three)) for one, two, three in rows] for rows in cells]


def find_parts(response: Any) -> list[str]:
    """Return the HTML of each change on a page."""
    assert response.status_code == 200, response
    table: str = response.content.decode().partition('<div class="card changes">')[2].partition("</table>")[0]
    return table.split("<tbody>")[1:]


def get_text(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())
