"""Bytes in and out: strict JSON parsing with a size limit, and fast JSON answers."""

import json
from collections.abc import Mapping
from typing import Any

import orjson
from django.conf import settings
from django.http.request import MediaType
from rest_framework.exceptions import APIException, ParseError, UnsupportedMediaType
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer


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
        body = read(stream, limit=settings.MAX_BODY_BYTES)
        try:
            return orjson.loads(body) if body else {}
        except orjson.JSONDecodeError as error:
            raise ParseError(f"The body is not JSON: {error}", code="invalid_json") from None


def read(stream: Any, *, limit: int) -> bytes:
    """The whole body, up to the limit. Raises BodyTooLarge past it, before reading where the length is announced."""
    try:
        announced = int(stream.META.get("CONTENT_LENGTH") or 0)
    except (ValueError, AttributeError):
        announced = 0
    if announced > limit:
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
    return read(request._request, limit=settings.MAX_UPLOAD_MB * 1024 * 1024)
