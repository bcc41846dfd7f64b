"""Bytes in and out: strict JSON parsing with a size limit, and fast JSON answers."""

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import orjson
from django.http.request import MediaType
from rest_framework.exceptions import APIException, ParseError, UnsupportedMediaType
from rest_framework.parsers import BaseParser, MultiPartParser
from rest_framework.renderers import BaseRenderer

LONG_NUMBER = re.compile(rb"[0-9][0-9.]{15}")
SEPARATORS = (b",", b"{", b"[")  # a body has about as many values
MOST_VALUES = 30_000  # three times the ids of the largest selection; each takes up to seventy bytes once it is read
PLAIN = re.compile(r"-?[0-9]{1,30}\.[0-9]{1,30}")


class BodyTooLarge(APIException):
    status_code = 413
    default_code = "body_too_large"
    default_detail = "The body is larger than this operation takes."


class LengthRequired(APIException):
    status_code = 411
    default_code = "length_required"
    default_detail = "Send the body with its Content-Length."


class EncodingUnsupported(UnsupportedMediaType):
    default_detail = "Send the body as it is, without a Content-Encoding."

    def __init__(self) -> None:
        APIException.__init__(self)


def refuse_unreadable(request: Any) -> None:
    """Raises LengthRequired for a body in chunks, which would look empty, and EncodingUnsupported for a packed one."""
    if request.META.get("HTTP_TRANSFER_ENCODING"):
        raise LengthRequired
    if request.META.get("HTTP_CONTENT_ENCODING", "identity").lower() != "identity":
        raise EncodingUnsupported


class JsonRenderer(BaseRenderer):
    media_type = "application/json"
    format = "json"
    charset = None

    def render(
        self, data: Any, accepted_media_type: Any = None, renderer_context: Mapping[str, Any] | None = None
    ) -> bytes:
        if isinstance(data, bytes):
            return data  # rendered already
        return b"" if data is None else json_of(data)


def accepts(header: str, media_type: str) -> bool:
    """Whether an Accept header takes a media type: its most specific range that fits decides (RFC 9110, 12.5.1)."""
    if header in ("*/*", media_type):
        return True
    ranges = [MediaType(text) for text in header.split(",") if text.strip()]
    fitting = [each for each in ranges if each.match(media_type)]
    return not ranges or (bool(fitting) and max(fitting, key=lambda each: each.specificity).quality > 0)


def json_of(data: Any) -> bytes:
    """The fast writer's answer; numbers and depths that it does not know take the standard library's."""
    try:
        return orjson.dumps(data, default=str)
    except TypeError:
        return json.dumps(data, default=leaf, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def leaf(value: Any) -> Any:
    """A value that only the fast writer knows, such as a time, as it writes it."""
    return orjson.loads(orjson.dumps(value, default=str))


class JsonParser(BaseParser):
    """The body as JSON; any encoding but UTF-8, NaN and bodies past the limit are refused."""

    media_type = "application/json"

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        body = read(stream, limit=parser_context["view"].most_bytes)
        if sum(map(body.count, SEPARATORS)) > MOST_VALUES:
            raise BodyTooLarge(f"The body has more than {MOST_VALUES:,} values.")
        try:
            found = orjson.loads(body) if body else {}
            # Only then is there a number that a float may not hold, and the slower reader worth its time.
            return json.loads(body, parse_float=exact, parse_int=orjson.loads) if LONG_NUMBER.search(body) else found
        except (orjson.JSONDecodeError, RecursionError) as error:
            raise ParseError(f"The body is not JSON: {error}", code="invalid_json") from None


class UploadParser(MultiPartParser):
    """A form with files, of which none reaches the disk where they are too large together."""

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        if announced(parser_context["request"].META) > parser_context["view"].most_bytes:
            raise BodyTooLarge
        try:
            return super().parse(stream, media_type, parser_context)
        except ParseError as error:
            raise ParseError(str(error.detail), code="invalid_form") from None


def announced(meta: Mapping[str, Any]) -> int:
    """A body's length as the server knows it, which hands on no more than this."""
    length = meta.get("CONTENT_LENGTH") or ""
    return int(length) if length.isdecimal() else 0


def exact(text: str) -> float | Decimal:
    """A number of a body: a Decimal where a float has not its digits. One with an exponent is no amount of money."""
    value: float = orjson.loads(text)
    return value if not PLAIN.fullmatch(text) or Decimal(repr(value)) == Decimal(text) else Decimal(text)


def read(stream: Any, *, limit: int) -> bytes:
    """The whole body, up to the limit. Raises BodyTooLarge past it, before reading where the length is announced."""
    if announced(getattr(stream, "META", {})) > limit:
        raise BodyTooLarge
    # The body is read once and not kept beside what is made of it, unless something before us has read it.
    body = stream.body if hasattr(stream, "_body") else stream.read(limit + 1)
    if len(body) > limit:
        raise BodyTooLarge
    return body


def json_body(request: Any) -> bytes:
    """The raw bytes of a large JSON body, for operations that decode it themselves.

    Raises UnsupportedMediaType and BodyTooLarge.
    """
    if (request.content_type or "").partition(";")[0].strip().lower() != JsonParser.media_type:
        raise UnsupportedMediaType(request.content_type or "")
    return read(request._request, limit=request.parser_context["view"].most_bytes)
