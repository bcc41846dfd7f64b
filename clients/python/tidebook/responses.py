"""Results of operations, API errors, and iteration over lists."""

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

from tidebook.generated.models import Problem
from tidebook.generated.types import Response

T = TypeVar("T")
NEXT_LINK_PATTERN = re.compile(r"<([^>]*)>; rel=\"next\"")
CURSOR_PARAMETERS = ("cursor", "after")  # of lists, of the events feed


class ApiError(Exception):
    """An error of the API; `code` is stable, `errors` name fields by JSON pointers."""

    def __init__(self, status: int, problem: Problem):
        self.status, self.problem, self.code = status, problem, problem.code
        self.detail, self.errors, self.request_id = problem.detail, problem.errors or [], problem.request_id
        fields = "".join(f"; {each.pointer}: {each.code}" for each in self.errors)
        super().__init__(f"{status} {self.code}: {self.detail}{fields}")


def unwrap(response: Response[Problem | T]) -> T:
    """Return the result of a response.

    Raises:
        ApiError: the API answered with an error.
    """
    if isinstance(response.parsed, Problem):
        raise ApiError(int(response.status_code), response.parsed)
    return response.parsed  # type: ignore[return-value] # whatever is not documented was raised already


def iterate(operation: Callable[..., Response[Problem | list[T]]], *arguments: Any, **parameters: Any) -> Iterator[T]:
    """Yield all rows of a list, page by page.

    For example ``iterate(list_transactions.sync_detailed, company, client=client)``.

    Raises:
        ApiError: the API answered with an error.
    """
    cursor: dict[str, str] = {}
    while True:
        page = operation(*arguments, **{**parameters, **cursor})
        yield from unwrap(page)
        cursor = parse_next_cursor(page.headers.get("Link", ""))
        if not cursor:
            return


def parse_next_cursor(link: str) -> dict[str, str]:
    """Return the parameter of the next page; empty after the last one."""
    match = NEXT_LINK_PATTERN.search(link)
    query = parse_qs(urlsplit(match[1]).query) if match else {}
    return {name: query[name][0] for name in CURSOR_PARAMETERS if name in query}
