"""JSON-RPC over HTTP of the Model Context Protocol: parsing messages and building responses.

Two protocol generations are supported. Since revision 2026-07-28 every request states its revision in
`_meta` and in headers that must agree; before that, `initialize` negotiated it once. Neither needs a
session.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
"""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

CURRENT_REVISION = "2026-07-28"
HANDSHAKE_REVISIONS = ("2025-11-25", "2025-06-18")  # the newest first
SUPPORTED_REVISIONS = (CURRENT_REVISION, *HANDSHAKE_REVISIONS)
META_PREFIX = "io.modelcontextprotocol/"
VERSION_KEY, CAPABILITIES_KEY, SERVER_KEY = (
    f"{META_PREFIX}{name}" for name in ("protocolVersion", "clientCapabilities", "serverInfo")
)
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
HEADER_MISMATCH, UNSUPPORTED_VERSION = -32020, -32022
HTTP_STATUS_BY_CODE = {METHOD_NOT_FOUND: 404}  # in the current revision; 400 for other errors
MAX_VALUES = 30_000  # the limit of API bodies
VALUE_SEPARATORS = (b",", b"{", b"[")
BASE64_HEADER_PATTERN = re.compile(r"=\?base64\?([^?]*)\?=")
Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]  # the integers that a response can contain


class JsonRpcError(Exception):
    """A JSON-RPC error, as opposed to a tool's error."""

    def __init__(self, code: int, message: str, *, data: Any = None, id_: Any = None):
        self.code, self.data, self.id = code, data, id_
        super().__init__(message)

    def to_dict(self) -> dict[str, Any]:
        error = {"code": self.code, "message": str(self)}
        return {"jsonrpc": "2.0", "id": self.id, "error": error if self.data is None else error | {"data": self.data}}


class JsonRpcMessage(msgspec.Struct):
    """A request, or a notification if it has no id. Tool arguments stay encoded."""

    jsonrpc: str
    method: str
    id: str | Int64 | msgspec.UnsetType = msgspec.UNSET
    params: dict[str, msgspec.Raw] | msgspec.UnsetType = msgspec.UNSET

    @property
    def is_notification(self) -> bool:
        return self.id is msgspec.UNSET

    def get_param(self, name: str, kind: Any) -> Any:
        """Return a parameter, or None if it is absent.

        Raises:
            JsonRpcError: it has another type.
        """
        raw = self.params.get(name) if isinstance(self.params, dict) else None
        if raw is None:
            return None
        try:
            return msgspec.json.decode(raw, type=kind)
        except (msgspec.DecodeError, RecursionError) as error:
            detail = f"params.{name} is invalid. {describe_fault(error)}"
            raise JsonRpcError(INVALID_PARAMS, detail, id_=self.id) from None


def read_message(body: bytes) -> JsonRpcMessage:
    """Parse the message of a request body.

    Raises:
        JsonRpcError: it is no JSON, a batch, or no message.
    """
    if sum(map(body.count, VALUE_SEPARATORS)) > MAX_VALUES:
        raise JsonRpcError(INVALID_REQUEST, f"The message has too many values (maximum {MAX_VALUES:,}).")
    try:
        body.decode()  # values that stay encoded are not checked otherwise
        message = msgspec.json.decode(body, type=JsonRpcMessage)
    except msgspec.ValidationError as error:
        raise JsonRpcError(INVALID_REQUEST, describe_invalid_message(body, error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise JsonRpcError(PARSE_ERROR, "The request body is not valid JSON.") from None
    if message.jsonrpc != "2.0":
        raise JsonRpcError(INVALID_REQUEST, "jsonrpc must be 2.0.", id_=None if message.is_notification else message.id)
    return message


def describe_invalid_message(body: bytes, error: msgspec.ValidationError) -> str:
    """Say why a body is no message: a batch, or which member is missing or has the wrong type."""
    if body.lstrip().startswith(b"["):
        return "Send one JSON-RPC request or notification, not a batch."
    return f"The body is not a JSON-RPC request or notification. {describe_fault(error)}"


def describe_fault(error: Exception) -> str:
    """Return the decoder's reason as a sentence, such as: Expected `str`, got `int` - at `$.method`."""
    return "It is nested too deeply." if isinstance(error, RecursionError) else f"{str(error).rstrip('.')}."


def decode_value(raw: msgspec.Raw) -> Any:
    """Decode a value; a number too long or too large for Python types stays text."""
    try:
        return msgspec.json.decode(raw)
    except msgspec.ValidationError:
        return bytes(raw).decode()


def get_message_revision(message: JsonRpcMessage, headers: Mapping[str, str]) -> str:
    """Return the protocol revision of a message.

    Raises:
        JsonRpcError: it is unsupported, or body and headers differ.
    """
    header = headers.get("MCP-Protocol-Version")
    if message.is_notification or message.method == "initialize":
        return header if header in SUPPORTED_REVISIONS else HANDSHAKE_REVISIONS[0]
    meta = message.get_param("_meta", dict[str, msgspec.Raw]) or {}
    if VERSION_KEY not in meta and header != CURRENT_REVISION:
        if header is not None and header not in HANDSHAKE_REVISIONS:
            raise build_unsupported_version_error(header, message)
        return header or HANDSHAKE_REVISIONS[-1]
    missing = [key for key in (VERSION_KEY, CAPABILITIES_KEY) if key not in meta]
    if missing:
        raise JsonRpcError(INVALID_PARAMS, f"params._meta must contain {', '.join(missing)}.", id_=message.id)
    claimed_revision = decode_value(meta[VERSION_KEY])
    check_header(message, "MCP-Protocol-Version", header, claimed_revision)
    check_header(message, "Mcp-Method", headers.get("Mcp-Method"), message.method)
    if message.method == "tools/call":
        check_header(message, "Mcp-Name", decode_header(headers.get("Mcp-Name")), message.get_param("name", str))
    if claimed_revision != CURRENT_REVISION:
        raise build_unsupported_version_error(claimed_revision, message)
    return CURRENT_REVISION


def check_header(message: JsonRpcMessage, name: str, header: str | None, body: Any) -> None:
    """Check that a header agrees with the body, since proxies read headers.

    Raises:
        JsonRpcError: it does not.
    """
    if header is None or header != body:
        raise JsonRpcError(HEADER_MISMATCH, f"The header {name} does not match the body.", id_=message.id)


def decode_header(header: str | None) -> str | None:
    """Return a header's text, decoded if it is base64; None if that fails."""
    match = BASE64_HEADER_PATTERN.fullmatch(header or "")
    if match is None:
        return header
    try:
        return base64.b64decode(match[1], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None


def build_unsupported_version_error(requested_version: str, message: JsonRpcMessage) -> JsonRpcError:
    data = {"supported": list(SUPPORTED_REVISIONS), "requested": requested_version[:100]}
    return JsonRpcError(UNSUPPORTED_VERSION, "Unsupported protocol version", data=data, id_=message.id)
