"""Regular expressions over what callers write take time in proportion to its length, on whatever they fail.

Every pattern of the sources is found: those that modules keep, those written where they are used, those of fields and
addresses. From each one texts are made that it almost takes, long in each of its repetitions in turn.
"""

import ast
import importlib
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import product
from pathlib import Path
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

import pytest
from django import forms
from django.apps import apps
from django.urls import get_resolver
from django.urls.resolvers import RegexPattern
from rest_framework import serializers

from tests.test_house import ROOT, SOURCES

SIZES = (40, 400, 4_000, 30_000)  # what takes long on a short text never gets a longer one
SECONDS = 0.25  # of the processor, for 30,000 characters: in proportion they take a tenth of it at most
# Of the processor, for 4,000 characters: from less, the third power of the length stays within the limit at 30,000.
NOTEWORTHY_SECONDS = SECONDS * (4_000 / 30_000) ** 3
SETTINGS = {"config/environment.py", "config/databases/connection.py"}  # the operator's text, read once


# ---------------------------------------------------------------------------------------------- finding them


def list_files() -> Iterator[Path]:
    for path in SOURCES:
        where = str(path.relative_to(ROOT))
        if where not in SETTINGS and not where.startswith("tests/"):
            yield path


def import_module_of(path: Path) -> Any:
    return importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"))


def iterate_patterns(value: Any) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from iterate_patterns(each)
    elif isinstance(value, tuple | list | set | frozenset):
        for each in value:
            yield from iterate_patterns(each)


def collect_patterns() -> dict[str, re.Pattern[Any]]:
    """Where each stands → the pattern."""
    patterns: dict[str, re.Pattern[Any]] = {}
    for path in list_files():
        where, text = str(path.relative_to(ROOT)), path.read_text()
        if "re." not in text:
            continue
        if not where.endswith("gunicorn.py"):  # it is no module of ours but the server's settings
            for name, value in list(vars(import_module_of(path)).items()):
                patterns |= {
                    f"{where}:{name}.{number}": pattern for number, pattern in enumerate(iterate_patterns(value))
                }
        for call in (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)):
            if call.args and ast.unparse(call.func).startswith("re."):
                patterns |= compile_literal(where, call)
    return patterns | collect_field_patterns() | collect_url_patterns()


def compile_literal(where: str, call: ast.Call) -> dict[str, re.Pattern[Any]]:
    """The pattern of ``re.sub(r"…", …)``; what is put together is compiled where it is kept, or from escaped text."""
    act = call.func.attr  # type: ignore[attr-defined]
    if act in ("escape", "compile"):
        return {}
    first = call.args[0]
    if isinstance(first, ast.Constant):
        return {f"{where}:{call.lineno}": re.compile(first.value)}
    parts = [each.value for each in ast.walk(first) if isinstance(getattr(each, "value", None), str | bytes)]
    assert "re.escape(" in ast.unparse(first), f"{where}:{call.lineno} is made of what this test does not see"
    return {f"{where}:{call.lineno}": re.compile(type(parts[0])().join(parts))}


def collect_field_patterns() -> dict[str, re.Pattern[Any]]:
    """The validators of every field that takes text: of the API, of forms, and of rows."""
    patterns: dict[tuple[str, int], tuple[str, re.Pattern[Any]]] = {}  # most fields share them
    for where, field in list_fields():
        for validator, name in product(getattr(field, "validators", ()), ("regex", "user_regex", "domain_regex")):
            lazy = getattr(validator, name, None)
            if hasattr(lazy, "pattern"):
                patterns[lazy.pattern, lazy.flags] = f"{where}.{name}", re.compile(lazy.pattern, lazy.flags)
    return dict(patterns.values())


def list_fields() -> Iterator[tuple[str, Any]]:
    shapes = [shape for shape in iterate_subclasses(serializers.Serializer) if shape.__module__.split(".")[0] in APPS]
    for shape in shapes:
        if hasattr(shape, "Meta") or not issubclass(shape, serializers.ModelSerializer):
            yield from ((f"{shape.__qualname__}.{name}", field) for name, field in shape().fields.items())
    for form in iterate_subclasses(forms.Form):
        yield from ((f"{form.__qualname__}.{name}", field) for name, field in form.base_fields.items())
    for model in apps.get_models():
        yield from ((f"{model.__qualname__}.{field.name}", field) for field in model._meta.fields)


APPS = {"companies", "ledger", "planning", "analytics", "notifications", "oauth"}


def iterate_subclasses(kind: type) -> Iterator[Any]:
    for each in kind.__subclasses__():
        yield each
        yield from iterate_subclasses(each)


def collect_url_patterns(resolver: Any = None, before: str = "") -> dict[str, re.Pattern[Any]]:
    patterns: dict[str, re.Pattern[Any]] = {}
    for each in (resolver or get_resolver()).url_patterns:
        if isinstance(each.pattern, RegexPattern):  # of others only the parts between slashes are free
            patterns[f"address {before}{each.pattern}"] = each.pattern.regex
        if hasattr(each, "url_patterns"):
            patterns |= collect_url_patterns(each, f"{before}{each.pattern}")
    return patterns


# ---------------------------------------------------------------------------------------------- near misses


def list_near_misses(pattern: re.Pattern[Any]) -> list[tuple[str, str, str]]:
    """Return (what leads to a repetition, what is repeated, an end that fits nothing) for each repetition."""
    tree = _parser.parse(pattern.pattern, pattern.flags)
    repeats = list(iterate_repetitions(tree, ""))
    leads = {"", *(before for before, _ in repeats)}
    units = {*(unit for _, unit in repeats if unit), *(leads - {""}), *list_characters(tree)}
    units |= {a + b for (_, a), b in product(repeats, list_characters(tree)) if a and len(repeats) < 4}
    return list(product(leads, units, ("", "\x01", "~!")))


def build_text(pattern: re.Pattern[Any], near_miss: tuple[str, str, str], size: int) -> Any:
    """Build a text of about so many characters."""
    before, unit, end = near_miss
    text = before + unit * (size // len(unit)) + end
    return text.encode("latin-1", "replace") if isinstance(pattern.pattern, bytes) else text


def iterate_repetitions(tree: Any, before: str) -> Iterator[tuple[str, str]]:
    """(what leads to it, one turn of it) of every repetition."""
    for kind, value in tree:
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            yield before, build_example(value[2])
            yield from iterate_repetitions(value[2], before)
        elif kind is op.SUBPATTERN:
            yield from iterate_repetitions(value[3], before)
        elif kind is op.ATOMIC_GROUP:
            yield from iterate_repetitions(value, before)
        elif kind is op.BRANCH:
            for each in value[1]:
                yield from iterate_repetitions(each, before)
        elif kind in (op.ASSERT, op.ASSERT_NOT):
            yield from iterate_repetitions(value[1], before)
        before += build_example([(kind, value)])


def build_example(tree: Any) -> str:
    """The shortest text that fits, or nearly."""
    return "".join(EXAMPLE_OF_NODE[kind](value) for kind, value in tree if kind in EXAMPLE_OF_NODE)


def repeat_example(value: Any) -> str:
    return build_example(value[2]) * max(1, min(value[0], 100))


EXAMPLE_OF_NODE: dict[Any, Callable[[Any], str]] = {
    op.LITERAL: chr,
    op.NOT_LITERAL: lambda _: "x",
    op.ANY: lambda _: "x",
    op.IN: lambda value: list_set_members(value)[0],
    op.MAX_REPEAT: repeat_example,
    op.MIN_REPEAT: repeat_example,
    op.POSSESSIVE_REPEAT: repeat_example,
    op.SUBPATTERN: lambda value: build_example(value[3]),
    op.ATOMIC_GROUP: build_example,
    op.BRANCH: lambda value: build_example(value[1][0]),
    op.ASSERT: lambda value: build_example(value[1]) if value[0] < 0 else "",
}
CATEGORIES = {op.CATEGORY_DIGIT: "0", op.CATEGORY_SPACE: " ", op.CATEGORY_WORD: "a"}


def list_set_members(parts: Any) -> list[str]:
    """Some characters of a set, one of each kind."""
    if parts[0][0] is op.NEGATE:
        return ["x", " "]
    chosen = []
    for kind, value in parts:
        if kind is op.LITERAL:
            chosen.append(chr(value))
        elif kind is op.RANGE:
            chosen.append(chr(value[0]))
        elif kind is op.CATEGORY:
            chosen.append(CATEGORIES.get(value, "-"))
    return chosen


def list_characters(tree: Any) -> set[str]:
    """Characters of every set and literal in a pattern, and a blank."""
    chosen = {" ", "a", "0"}
    for kind, value in tree:
        if kind is op.LITERAL:
            chosen.add(chr(value))
        elif kind is op.IN:
            chosen |= set(list_set_members(value)[:6])
        elif kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            chosen |= list_characters(value[2])
        elif kind is op.SUBPATTERN:
            chosen |= list_characters(value[3])
        elif kind is op.BRANCH:
            chosen |= set().union(*map(list_characters, value[1]))
    return chosen


# ---------------------------------------------------------------------------------------------- measuring


class TooSlow(Exception):
    pass


@contextmanager
def raise_on_timer() -> Iterator[None]:
    """Lets a timer that was set end a match; it counts the processor's time: other programs do not count."""

    def end(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGPROF, end)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def get_slowest_match(pattern: re.Pattern[Any], *, is_searched: bool) -> Callable[[Any], Any]:
    """How a pattern is asked: to search takes longer than to match, and a whole text at least as long as its start."""
    return (lambda text: pattern.sub(type(text)(), text)) if is_searched else pattern.fullmatch


def check_time_of_texts(pattern: re.Pattern[Any], *, is_searched: bool) -> None:
    """Fail where the pattern takes longer for a text than the limit."""
    match = get_slowest_match(pattern, is_searched=is_searched)
    near_misses = list_near_misses(pattern)
    with raise_on_timer():
        for size in SIZES:
            noteworthy = []
            for near_miss in near_misses:
                text = build_text(pattern, near_miss, size)
                start = time.thread_time()
                signal.setitimer(signal.ITIMER_PROF, SECONDS)
                try:
                    match(text)
                    signal.setitimer(signal.ITIMER_PROF, 0)
                except TooSlow:
                    pytest.fail(f"{pattern.pattern!r} takes more than {SECONDS} s for {len(text):,} of {text[:60]!r}…")
                if size < SIZES[-2] or time.thread_time() - start > NOTEWORTHY_SECONDS:
                    noteworthy.append(near_miss)
            near_misses = noteworthy


SEARCH_METHODS = ("search", "sub", "subn", "findall", "finditer", "split")


def is_searched(where: str) -> bool:
    """Whether the sources look for the pattern anywhere in a text, and not at its beginning alone."""
    path, _, name = where.partition(":")
    if not (ROOT / path).is_file():
        return "address" in where or "." in where  # what validators and addresses do is not ours: they search
    if name.isdecimal():
        line = (ROOT / path).read_text().splitlines()[int(name) - 1]
        return any(f"re.{act}(" in line for act in SEARCH_METHODS)
    return name.split(".")[0] in list_searched_names()


@cache
def list_searched_names() -> set[str]:
    """Names of patterns that the sources search with, also as one of several: ``NAME[key].search(``."""
    called = re.compile(rf"\b(\w+)(?:\[\w+\])?\.(?:{'|'.join(SEARCH_METHODS)})\(")
    return {name for path in list_files() for name in called.findall(path.read_text())}


def test_patterns_run_in_linear_time():
    patterns = collect_patterns()
    places = " ".join(patterns)
    for place in ("idempotency.py:MULTIPART", "serializers.py:DOMAIN", "files/actions.py:", "address "):
        assert place in places
    unique = {(pattern.pattern, pattern.flags, is_searched(where)): pattern for where, pattern in patterns.items()}
    for (*_, searched), pattern in unique.items():
        check_time_of_texts(pattern, is_searched=searched)


@pytest.mark.parametrize("bad", [r"(a+)+b", r"\s*[+-]?\s*x", r"\s+$", r"eyJ[\w-]+\.", r"(?:a|a)*b", r"(\w+\s?)*:"])
def test_backtracking_pattern_is_detected(bad):
    with pytest.raises(pytest.fail.Exception, match="takes more than"):
        check_time_of_texts(re.compile(bad), is_searched=True)
