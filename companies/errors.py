"""The kinds of refusal; the specific class stands beside the function that raises it. No HTTP here."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext, gettext_noop

BY_CODE: dict[str, type["Refusal"]] = {}


class Refusal(Exception):
    """Something the caller asked for cannot be done; ``code`` is stable, ``detail`` is for people."""

    code = "refused"
    more: Mapping[str, Any] = {}  # what an answer says besides, by its names on the wire

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        BY_CODE.setdefault(cls.code, cls)

    def __init__(self, detail: str | None = None, *, pointer: str | None = None):
        self.detail = detail or gettext(self.sentence())
        self.pointer = pointer
        super().__init__(self.detail)

    @classmethod
    def sentence(cls) -> str:
        """What it says of itself."""
        return (cls.__doc__ or "").strip().splitlines()[0]


class Invalid(Refusal):
    """What was sent is wrong in itself."""

    code = "invalid"


class Missing(Refusal):
    """There is no such thing, or none that the caller may know of."""

    code = "not_found"


class Conflict(Refusal):
    """The state of things forbids it."""

    code = "conflict"


class Denied(Refusal):
    """The caller may see this, but not do that."""

    code = "permission_denied"


class TooLarge(Refusal):
    """What was sent is larger than the operation takes."""

    code = "body_too_large"


class Unsupported(Refusal):
    """What was sent is of a kind that the operation does not take."""

    code = "unsupported_media_type"


class TooMany(Refusal):
    """There was too much of it for now; ``wait`` seconds make it possible again."""

    code = "too_many"

    def __init__(self, *, wait: int):
        self.wait = wait
        super().__init__()


class FieldErrors(Invalid):
    """One or more fields are wrong: ``errors`` holds (pointer, code, detail) for each."""

    code = "validation_failed"

    def __init__(self, errors: list[tuple[str, str, str]]):
        self.errors = errors
        super().__init__("The request has invalid fields.")


def of_code(code: str) -> type[Refusal]:
    """The refusal that a code stands for."""
    return BY_CODE[code]


UNKNOWN_ID = gettext_noop("There is no such record in this company.")


def unknown_at(pointer: str) -> tuple[str, str, str]:
    """What is wrong with an id that is unknown, malformed or another company's: one and the same answer."""
    return pointer, "unknown_id", gettext(UNKNOWN_ID)


def unknown_id(pointer: str) -> FieldErrors:
    """The same where that is all that is wrong."""
    return FieldErrors([unknown_at(pointer)])
