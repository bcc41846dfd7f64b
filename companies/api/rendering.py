"""JSON parsing with a size limit, and fast JSON rendering."""

import io
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

LONG_NUMBER_PATTERN = re.compile(rb"[0-9][0-9.]{15}")
JSON_SEPARATORS = (b",", b"{", b"[")  # a body has about as many values as separators
MAX_VALUES = 30_000  # three times the ids of the largest selection; each takes up to seventy bytes in memory
PLAIN_DECIMAL_PATTERN = re.compile(r"-?[0-9]{1,30}\.[0-9]{1,30}")


class BodyTooLarge(APIException):
    status_code = 413
    default_code = "body_too_large"
    default_detail = "The request body is too large."


class LengthRequired(APIException):
    status_code = 411
    default_code = "length_required"
    default_detail = "Send a Content-Length header."


class EncodingUnsupported(UnsupportedMediaType):
    default_detail = "Send the body without Content-Encoding."

    def __init__(self) -> None:
        APIException.__init__(self)


def refuse_unreadable_body(request: Any) -> None:
    """Raise LengthRequired for a chunked body, which would look empty, and EncodingUnsupported for a compressed
    one.
    """
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
        return b"" if data is None else render_json(data)


def is_media_type_accepted(header: str, media_type: str) -> bool:
    """Return whether an Accept header takes a media type: its most specific matching range decides (RFC 9110,
    12.5.1).
    """
    if header in ("*/*", media_type):
        return True
    ranges = [MediaType(text) for text in header.split(",") if text.strip()]
    matching_ranges = [each for each in ranges if each.match(media_type)]
    return not ranges or (bool(matching_ranges) and max(matching_ranges, key=lambda each: each.specificity).quality > 0)


def render_json(data: Any) -> bytes:
    """Render JSON with orjson; numbers and depths it does not support use the standard library."""
    try:
        return orjson.dumps(data, default=str)
    except TypeError:
        return json.dumps(
            data, default=serialize_json_default, ensure_ascii=False, separators=(",", ":"), allow_nan=False
        ).encode()


def serialize_json_default(value: Any) -> Any:
    """Serialize a value that only orjson knows, such as a time."""
    return orjson.loads(orjson.dumps(value, default=str))


class JsonParser(BaseParser):
    """Parses JSON in UTF-8; rejects other encodings, NaN and bodies beyond the limit."""

    media_type = "application/json"

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        body = read_body(stream, limit=parser_context["view"].max_body_bytes)
        if sum(map(body.count, JSON_SEPARATORS)) > MAX_VALUES:
            raise BodyTooLarge(f"The request body has too many values (maximum {MAX_VALUES:,}).")
        try:
            document = orjson.loads(body) if body else {}
            # Only then can there be a number that a float cannot hold, and the slower parser is needed.
            return (
                json.loads(body, parse_float=parse_exact_number, parse_int=orjson.loads)
                if LONG_NUMBER_PATTERN.search(body)
                else document
            )
        except (orjson.JSONDecodeError, RecursionError) as error:
            raise ParseError(f"The request body is not valid JSON: {error}", code="invalid_json") from None


class UploadParser(MultiPartParser):
    """Parses a form with files; nothing is written to disk if they are too large together."""

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        if get_content_length(parser_context["request"].META) > parser_context["view"].max_body_bytes:
            raise BodyTooLarge
        try:
            return super().parse(stream, media_type, parser_context)
        except ParseError:
            detail = "The body is not a multipart form, or its Content-Type has no boundary."
            raise ParseError(detail, code="invalid_form") from None


def get_content_length(meta: Mapping[str, Any]) -> int:
    """Return the announced length of the body in bytes; the server passes on no more."""
    length = meta.get("CONTENT_LENGTH") or ""
    return int(length) if length.isdecimal() else 0


def parse_exact_number(text: str) -> float | Decimal:
    """Parse a number as float, or as Decimal if a float cannot hold its digits."""
    value: float = orjson.loads(text)
    return (
        value if not PLAIN_DECIMAL_PATTERN.fullmatch(text) or Decimal(repr(value)) == Decimal(text) else Decimal(text)
    )


def read_body(stream: Any, *, limit: int) -> bytes:
    """Read the body up to the limit. Raises BodyTooLarge, before reading if the length is announced."""
    if get_content_length(getattr(stream, "META", {})) > limit:
        raise BodyTooLarge
    body: bytes = stream.read(limit + 1)
    if len(body) > limit:
        raise BodyTooLarge
    return body


def read_json_body(request: Any) -> bytes:
    """Return the raw bytes of a JSON body, for operations that decode it themselves.

    Raises:
        UnsupportedMediaType, BodyTooLarge
    """
    if (request.content_type or "").partition(";")[0].strip().lower() != JsonParser.media_type:
        raise UnsupportedMediaType(request.content_type or "")
    view = request.parser_context["view"]
    view.has_read_raw_body = True
    return read_body(request.stream or io.BytesIO(), limit=view.max_body_bytes)
