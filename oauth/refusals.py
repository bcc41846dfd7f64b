"""The refusals of the token endpoint (RFC 6749, 5.2), each with its status."""


class Refusal(Exception):
    """An error as the protocol names it."""

    error = "invalid_request"
    status = 400

    def __init__(self, description: str):
        self.description = description
        super().__init__(description)

    @property
    def headers(self) -> dict[str, str]:
        return {}


class InvalidRequest(Refusal):
    pass


class InvalidGrant(Refusal):
    error = "invalid_grant"


class InvalidScope(Refusal):
    error = "invalid_scope"


class InvalidTarget(Refusal):
    error = "invalid_target"


class UnsupportedGrantType(Refusal):
    error = "unsupported_grant_type"


class InvalidClient(Refusal):
    """A challenge is answered only to a client that used the Authorization header."""

    error = "invalid_client"
    status = 401

    def __init__(self, description: str, *, asked: bool):
        self.asked = asked
        super().__init__(description)

    @property
    def headers(self) -> dict[str, str]:
        return {"WWW-Authenticate": 'Basic realm="oauth", charset="UTF-8"'} if self.asked else {}
