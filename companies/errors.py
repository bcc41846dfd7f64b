"""Base classes of domain errors; specific ones are declared beside the function that raises them. No HTTP
here.
"""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext, gettext_noop

ERRORS_BY_CODE: dict[str, type["DomainError"]] = {}


class DomainError(Exception):
    """Something the caller asked for cannot be done; ``code`` is stable, ``detail`` is for people."""

    code = "refused"
    more: Mapping[str, Any] = {}  # additional fields of the response, by their API names

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        ERRORS_BY_CODE.setdefault(cls.code, cls)

    def __init__(self, detail: str | None = None, *, pointer: str | None = None):
        self.detail = detail or gettext(self.get_default_detail())
        self.pointer = pointer
        super().__init__(self.detail)

    @classmethod
    def get_default_detail(cls) -> str:
        """Return the default detail: the first line of the class's docstring."""
        return (cls.__doc__ or "").strip().splitlines()[0]


class InvalidInputError(DomainError):
    """What was sent is wrong in itself."""

    code = "invalid"


class NotFoundError(DomainError):
    """There is no such thing, or none that the caller may know of."""

    code = "not_found"


class ConflictError(DomainError):
    """The state of things forbids it."""

    code = "conflict"


class PermissionDeniedError(DomainError):
    """The caller may see this, but not do that."""

    code = "permission_denied"


class TooLargeError(DomainError):
    """What was sent is larger than the operation takes."""

    code = "body_too_large"


class UnsupportedMediaTypeError(DomainError):
    """What was sent is of a kind that the operation does not take."""

    code = "unsupported_media_type"


class TooManyRequestsError(DomainError):
    """There was too much of it for now; ``wait`` seconds make it possible again."""

    code = "too_many"

    def __init__(self, *, wait: int):
        self.wait = wait
        super().__init__()


class ValidationFailed(InvalidInputError):
    """One or more fields are wrong: ``errors`` holds (pointer, code, detail) for each."""

    code = "validation_failed"

    def __init__(self, errors: list[tuple[str, str, str]]):
        self.errors = errors
        super().__init__("The request has invalid fields.")


def get_error_class(code: str) -> type[DomainError]:
    """Return the error class of a code."""
    return ERRORS_BY_CODE[code]


UNKNOWN_ID_TEXT = gettext_noop("There is no such record in this company.")


def build_unknown_id_entry(pointer: str) -> tuple[str, str, str]:
    """Build the field error of an id that is unknown, malformed or another company's: always the same."""
    return pointer, "unknown_id", gettext(UNKNOWN_ID_TEXT)


def build_unknown_id_error(pointer: str) -> ValidationFailed:
    """Build the validation error for a single unknown id."""
    return ValidationFailed([build_unknown_id_entry(pointer)])
