"""The data of languages and countries, looked into once and not kept. No database."""

from collections.abc import Iterable, Iterator
from typing import Any

from babel import Locale, localedata


def iterate_locales(names: Iterable[str]) -> Iterator[Any]:
    """Yield each locale, and drop its data behind it: babel would keep about a megabyte of each for good."""
    names_before = set(localedata._cache)  # noqa: SLF001 - it has no other way to forget
    for name in names:
        yield Locale.parse(name)
        for other in set(localedata._cache) - names_before - {"root"}:  # noqa: SLF001
            localedata._cache.pop(other, None)  # noqa: SLF001
