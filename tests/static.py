"""Static files are looked for once. Every client of the test framework makes its own middleware, which would look at
two hundred files each time: nearly half of the time that most tests take."""

from typing import Any

from whitenoise.middleware import WhiteNoiseMiddleware

_FOUND: dict[tuple[Any, ...], dict[str, Any]] = {}
_look = WhiteNoiseMiddleware.add_files_from_finders


def once() -> None:
    """From now on, in this process."""
    WhiteNoiseMiddleware.add_files_from_finders = add_files


def add_files(middleware: Any) -> None:
    key = middleware.static_prefix, middleware.max_age, middleware.charset
    if key not in _FOUND:
        _look(middleware)
        _FOUND[key] = dict(middleware.files)
    middleware.files.update(_FOUND[key])
