"""What a tool is: its endpoint, its input schema, and the confirmation it asks for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from assistants.schema_builders import (
    FLAG,
    ID,
    TEXT,
    Schema,
    add_schema_description,
    build_array,
    build_object,
    disallow_other_fields,
)
from assistants.tool_schemas import TRANSACTION_CHANGE

COMPANY_ID_FIELD = add_schema_description(ID, "optional if you have one company")
CONFIRM_FIELD = add_schema_description(TEXT, "digest of the preview call")


DEFAULT_ROWS, DEFAULT_CATEGORIES, MAX_ROWS = 20, 40, 500


CONFIRMATION_NOTE = "Without confirm: returns a preview and a digest. "


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of the MCP endpoint.

    `path` is below the company, with arguments in braces; `method` and the other arguments make the request.
    """

    name: str
    title: str
    description: str
    method: str
    path: str
    input_fields: Schema
    output_schema: Schema
    is_write: bool = False
    is_destructive: bool = False
    required_fields: str = ""  # names of required arguments
    defaults: Mapping[str, Any] = field(default_factory=dict)  # default arguments of the endpoint
    own_arguments: frozenset[str] = frozenset()  # arguments that the endpoint lacks; used by compact_answers.py
    has_change_list: bool = False  # whether the first call lists the changes
    has_row_limit: bool = False  # whether `limit` truncates a list that the endpoint returns completely
    default_rows: int = DEFAULT_ROWS  # of such a list

    @property
    def is_company_scoped(self) -> bool:
        return self.path.startswith("/companies/")

    def to_dict(self) -> dict[str, Any]:
        """Return the tool as tools/list does."""
        fields = dict(self.input_fields)
        if self.is_company_scoped:
            fields = {"companyId": COMPANY_ID_FIELD} | fields
        if self.is_write:
            fields |= {"confirm": CONFIRM_FIELD}
        return {
            "name": self.name,
            "title": self.title,
            "description": (CONFIRMATION_NOTE if self.is_write else "") + self.description,
            "inputSchema": disallow_other_fields(build_object(self.required_fields, **fields)),
            "outputSchema": build_confirmation_schema(self.output_schema, has_change_list=self.has_change_list)
            if self.is_write
            else self.output_schema,
            "annotations": {
                "readOnlyHint": not self.is_write,
                "destructiveHint": self.is_destructive,
                "idempotentHint": True,  # a digest is accepted only once
                "openWorldHint": False,
            },
        }


def build_confirmation_schema(answer: Schema, *, has_change_list: bool) -> Schema:
    """Build the output schema of a writing tool; only the first call returns `changes`."""
    changes = {"changes": build_array(TRANSACTION_CHANGE)} if has_change_list else {}
    return build_object("done digest answer", done=FLAG, digest=TEXT, answer=answer, **changes)


def build_company_path(path: str) -> str:
    return f"/companies/{{companyId}}/{path}"
