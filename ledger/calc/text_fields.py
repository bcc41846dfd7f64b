"""Nullable texts of resources. Each is declared once, in the `fields.py` of its resource's package.

`docs/adding-a-field.md` says what is built from them. No database.
"""

from dataclasses import dataclass
from typing import Any

MAX_LINE_LENGTH = 1_000  # longer texts have several lines


def mark_for_translation(text: str) -> str:
    """Mark a text for translation; it is translated where it is shown."""
    return text


@dataclass(frozen=True, kw_only=True)
class TextField:
    """A nullable text of a resource.

    `column` is its name in the database, `name` its name in the API, `label` its label on pages and in the audit log
    and its heading in exports, `hint` what forms say below it, `example` a value for the OpenAPI document, `headings`
    what else its column may be called in imported files.
    """

    column: str
    name: str
    label: str
    help_text: str
    hint: str = ""
    example: str = ""
    max_length: int = 10_000
    headings: tuple[str, ...] = ()

    @property
    def is_multiline(self) -> bool:
        return self.max_length > MAX_LINE_LENGTH

    @property
    def serializer_options(self) -> dict[str, Any]:
        """Options of its field in serializers."""
        return {"required": False, "allow_null": True, "max_length": self.max_length, "help_text": self.help_text}
