"""What an operation answered, or why it refused; and lists to their end."""

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

from tidebook.generated.models import Problem
from tidebook.generated.types import Response

T = TypeVar("T")
NEXT = re.compile(r"<([^>]*)>; rel=\"next\"")
PLACES = ("cursor", "after")  # of a list, of the feed of events


class Refused(Exception):
    """The API's refusal; ``code`` is stable, ``errors`` name fields by JSON pointers."""

    def __init__(self, status: int, problem: Problem):
        self.status, self.problem, self.code = status, problem, problem.code
        self.detail, self.errors, self.request_id = problem.detail, problem.errors or [], problem.request_id
        fields = "".join(f"; {each.pointer}: {each.code}" for each in self.errors)
        super().__init__(f"{status} {self.code}: {self.detail}{fields}")


def good(response: Response[Problem | T]) -> T:
    """What was answered. Raises Refused."""
    if isinstance(response.parsed, Problem):
        raise Refused(int(response.status_code), response.parsed)
    return response.parsed  # type: ignore[return-value] # whatever is not documented was raised already


def every(ask: Callable[..., Response[Problem | list[T]]], *arguments: Any, **more: Any) -> Iterator[T]:
    """All rows of a list, page by page: ``every(list_transactions.sync_detailed, company, client=client)``.

    Raises Refused.
    """
    place: dict[str, str] = {}
    while True:
        page = ask(*arguments, **{**more, **place})
        yield from good(page)
        place = next_place(page.headers.get("Link", ""))
        if not place:
            return


def next_place(link: str) -> dict[str, str]:
    """Where the next page begins, as the argument that says so; empty behind the last one."""
    match = NEXT.search(link)
    query = parse_qs(urlsplit(match[1]).query) if match else {}
    return {name: query[name][0] for name in PLACES if name in query}
