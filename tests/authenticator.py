"""A software passkey device. Its responses are those of a browser, correct or wrong in one place."""

import hashlib
import json
import secrets
import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field
from typing import Any

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

PRESENT, VERIFIED, ATTESTED = 0x01, 0x04, 0x40  # flags of authenticator data; Web Authentication, 6.1


def encode_base64url(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def decode_base64url(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


@dataclass
class PasskeyDevice:
    """A device with one passkey; `options` are the options that the page gave, `wrong` replaces correct values."""

    origin: str
    key: Any = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    id: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    handle: bytes = b""
    count: int = 0

    def create_credential(self, options: dict[str, Any], **wrong: Any) -> str:
        """Return the response of navigator.credentials.create()."""
        self.handle = decode_base64url(options["user"]["id"])
        numbers = self.key.public_key().public_numbers()
        cose = {1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32, "big"), -3: numbers.y.to_bytes(32, "big")}
        attested = bytes(16) + struct.pack(">H", len(self.id)) + self.id + cbor2.dumps(cose)
        rp, flags = wrong.get("rp", options["rp"]["id"]), wrong.get("flags", PRESENT | VERIFIED)
        data = self.build_authenticator_data(rp, flags | ATTESTED, self.count) + attested
        client = self.build_client_data("webauthn.create", options, wrong)
        statement = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})
        return self.format_response(
            {"clientDataJSON": encode_base64url(client), "attestationObject": encode_base64url(statement)}
        )

    def get_credential(self, options: dict[str, Any], **wrong: Any) -> str:
        """Return the response of navigator.credentials.get()."""
        self.count += 1
        rp, flags = wrong.get("rp", options["rpId"]), wrong.get("flags", PRESENT | VERIFIED)
        data = self.build_authenticator_data(rp, flags, wrong.get("count", self.count))
        client = self.build_client_data("webauthn.get", options, wrong)
        signed = wrong.get("key", self.key).sign(data + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256()))
        response = {
            "clientDataJSON": encode_base64url(client),
            "authenticatorData": encode_base64url(data),
            "signature": encode_base64url(signed),
            "userHandle": encode_base64url(wrong.get("handle", self.handle)),
        }
        return self.format_response(response, wrong.get("id"))

    def format_response(self, response: dict[str, str], other: bytes | None = None) -> str:
        name = encode_base64url(other or self.id)
        extra = {"clientExtensionResults": {}, "authenticatorAttachment": "platform"}
        return json.dumps({"id": name, "rawId": name, "type": "public-key", "response": response, **extra})

    def build_client_data(self, kind: str, options: dict[str, Any], wrong: dict[str, Any]) -> bytes:
        text = {"type": kind, "challenge": options["challenge"], "origin": self.origin, "crossOrigin": False}
        return json.dumps(
            text | {name: wrong[name] for name in ("type", "challenge", "origin") if name in wrong}
        ).encode()

    @staticmethod
    def build_authenticator_data(rp: str, flags: int, count: int) -> bytes:
        return hashlib.sha256(rp.encode()).digest() + bytes([flags]) + struct.pack(">I", count)
