"""Base classes of domain errors; specific ones are declared beside the function that raises them. No HTTP
here.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext, gettext_noop

ERRORS_BY_CODE: dict[str, type["DomainError"]] = {}


class DomainError(Exception):
    """The request cannot be completed."""

    code = "refused"
    extensions: Mapping[str, Any] = {}  # additional fields of the response, by their API names
    pointers: Sequence[str] = ()  # places in the request that all have this error

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
    """The request is invalid."""

    code = "invalid"


class NotFoundError(DomainError):
    """Not found, or you do not have access."""

    code = "not_found"


class ConflictError(DomainError):
    """The request conflicts with the current state."""

    code = "conflict"


class PermissionDeniedError(DomainError):
    """You do not have permission to do this."""

    code = "permission_denied"


class TooLargeError(DomainError):
    """The request is too large."""

    code = "body_too_large"


class UnsupportedMediaTypeError(DomainError):
    """This content type is not supported."""

    code = "unsupported_media_type"


class TooManyRequestsError(DomainError):
    """Too many requests. Try again later."""

    code = "too_many"

    def __init__(self, *, wait: int):
        self.wait = wait
        super().__init__()


class ValidationFailed(InvalidInputError):
    """One or more fields are invalid. See `errors`."""

    code = "validation_failed"

    def __init__(self, errors: list[tuple[str, str, str]]):
        self.errors = errors
        super().__init__("The request has invalid fields.")


def get_error_class(code: str) -> type[DomainError]:
    """Return the error class of a code."""
    return ERRORS_BY_CODE[code]


UNKNOWN_ID_TEXT = gettext_noop("This record does not exist in this company.")


def build_unknown_id_entry(pointer: str) -> tuple[str, str, str]:
    """Build the field error of an id that is unknown, malformed or another company's: always the same."""
    return pointer, "unknown_id", gettext(UNKNOWN_ID_TEXT)


def build_unknown_id_error(pointer: str) -> ValidationFailed:
    """Build the validation error for a single unknown id."""
    return ValidationFailed([build_unknown_id_entry(pointer)])
