"""JSON-RPC over HTTP as the Model Context Protocol has it: reading a message, and what is answered to one.

Two ways of speaking are understood. Since revision 2026-07-28 every request says by itself which revision it speaks, in
its ``_meta`` and in headers that must agree with it; before that, ``initialize`` asked once. Neither needs a session.
https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
"""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

MODERN = "2026-07-28"
HANDSHAKES = ("2025-11-25", "2025-06-18")  # the newest first
REVISIONS = (MODERN, *HANDSHAKES)
PREFIX = "io.modelcontextprotocol/"
VERSION_KEY, CAPABILITIES_KEY, SERVER_KEY = (
    f"{PREFIX}{name}" for name in ("protocolVersion", "clientCapabilities", "serverInfo")
)
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
HEADER_MISMATCH, UNSUPPORTED_VERSION = -32020, -32022
STATUS = {METHOD_NOT_FOUND: 404}  # of what the modern revision refuses; 400 else
MOST_VALUES = 30_000  # as many as a body of the API may have (companies.api.rendering)
SEPARATORS = (b",", b"{", b"[")
ENCODED = re.compile(r"=\?base64\?([^?]*)\?=")
Number = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]  # what an answer can be written with


class Refused(Exception):
    """What is no call that could be answered: one of JSON-RPC's errors, and not a tool's."""

    def __init__(self, code: int, message: str, *, data: Any = None, id_: Any = None):
        self.code, self.data, self.id = code, data, id_
        super().__init__(message)

    def body(self) -> dict[str, Any]:
        told = {"code": self.code, "message": str(self)}
        return {"jsonrpc": "2.0", "id": self.id, "error": told if self.data is None else told | {"data": self.data}}


class Message(msgspec.Struct):
    """One request, or a notification where it has no id. What a tool is given stays as it was written."""

    jsonrpc: str
    method: str
    id: str | Number | msgspec.UnsetType = msgspec.UNSET
    params: dict[str, msgspec.Raw] | msgspec.UnsetType = msgspec.UNSET

    @property
    def is_notification(self) -> bool:
        return self.id is msgspec.UNSET

    def param(self, name: str, kind: Any) -> Any:
        """A parameter, or None where it is left out. Raises Refused where it is of another kind."""
        raw = self.params.get(name) if isinstance(self.params, dict) else None
        if raw is None:
            return None
        try:
            return msgspec.json.decode(raw, type=kind)
        except (msgspec.DecodeError, RecursionError):
            raise Refused(INVALID_PARAMS, f"params.{name} is not what it must be.", id_=self.id) from None


def read_message(body: bytes) -> Message:
    """The message of a request's body. Raises Refused for what is no JSON, a batch, or no message."""
    if sum(map(body.count, SEPARATORS)) > MOST_VALUES:
        raise Refused(INVALID_REQUEST, f"The message has more than {MOST_VALUES:,} values.")
    try:
        body.decode()  # what is passed over as it was written is not looked at otherwise
        message = msgspec.json.decode(body, type=Message)
    except msgspec.ValidationError:
        raise Refused(INVALID_REQUEST, "Send one JSON-RPC request or notification; there are no batches.") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Refused(PARSE_ERROR, "The body is not JSON.") from None
    if message.jsonrpc != "2.0":
        raise Refused(INVALID_REQUEST, "jsonrpc must be 2.0.", id_=None if message.is_notification else message.id)
    return message


def value_of(raw: msgspec.Raw) -> Any:
    """What was written; of a number that is too long or too large for any of ours, its text."""
    try:
        return msgspec.json.decode(raw)
    except msgspec.ValidationError:
        return bytes(raw).decode()


def revision_of(message: Message, headers: Mapping[str, str]) -> str:
    """The revision that the message speaks. Raises Refused where there is none such here, or it says two things."""
    header = headers.get("MCP-Protocol-Version")
    if message.is_notification or message.method == "initialize":
        return header if header in REVISIONS else HANDSHAKES[0]
    meta = message.param("_meta", dict[str, msgspec.Raw]) or {}
    if VERSION_KEY not in meta and header != MODERN:
        if header is not None and header not in HANDSHAKES:
            raise unsupported(header, message)
        return header or HANDSHAKES[-1]
    missing = [key for key in (VERSION_KEY, CAPABILITIES_KEY) if key not in meta]
    if missing:
        raise Refused(INVALID_PARAMS, f"params._meta has no {', '.join(missing)}.", id_=message.id)
    claimed = value_of(meta[VERSION_KEY])
    check(message, "MCP-Protocol-Version", header, claimed)
    check(message, "Mcp-Method", headers.get("Mcp-Method"), message.method)
    if message.method == "tools/call":
        check(message, "Mcp-Name", decoded(headers.get("Mcp-Name")), message.param("name", str))
    if claimed != MODERN:
        raise unsupported(claimed, message)
    return MODERN


def check(message: Message, name: str, header: str | None, body: Any) -> None:
    """What stands in between reads headers: they must not say other than the body."""
    if header is None or header != body:
        raise Refused(HEADER_MISMATCH, f"The header {name} is not what the body says.", id_=message.id)


def decoded(header: str | None) -> str | None:
    """A header's text, out of base64 where it was put into it; None for what cannot be read."""
    match = ENCODED.fullmatch(header or "")
    if match is None:
        return header
    try:
        return base64.b64decode(match[1], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None


def unsupported(requested: str, message: Message) -> Refused:
    data = {"supported": list(REVISIONS), "requested": requested[:100]}
    return Refused(UNSUPPORTED_VERSION, "Unsupported protocol version", data=data, id_=message.id)
