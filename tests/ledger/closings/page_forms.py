"""Parse the forms of a page and build what a browser would send."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin


@dataclass
class FormField:
    """A form field: its value on the page (None if not sent) and the values it offers."""

    name: str
    kind: str
    value: str | None
    offered: list[str] = field(default_factory=list)


@dataclass
class PageForm:
    """A form: its URL, fields, and submit buttons as (name, value, own URL)."""

    action: str
    is_post: bool = True
    fields: list[FormField] = field(default_factory=list)
    buttons: list[tuple[str, str, str]] = field(default_factory=list)

    def build_body(self, change: Any = None) -> dict[str, list[str]]:
        """Return the request body: values on the page, or ``change(field)``."""
        body: dict[str, list[str]] = {}
        for form_field in self.fields:
            value = change(form_field) if change else form_field.value
            if value is not None:
                body.setdefault(form_field.name, []).append(value)
        return body


class FormParser(HTMLParser):
    """Collects the forms of a page, including fields outside a form that name it by id."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.page = page
        self.forms: list[PageForm] = []
        self.by_id: dict[str, PageForm] = {}
        self.form: PageForm | None = None
        self.field: FormField | None = None  # the open select or textarea
        self.selected, self.is_text = 0, False  # of the options of a select

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.start_form(values)
        elif tag == "option":
            self.add_option(values)
        elif tag in {"input", "select", "textarea", "button"} and "disabled" not in values:
            form = self.by_id.setdefault(values["form"], PageForm("")) if "form" in values else self.form
            if form is not None:
                self.add_control(form, tag, values)

    def start_form(self, values: dict[str, str]) -> None:
        form = self.by_id.setdefault(values["id"], PageForm("")) if "id" in values else PageForm("")
        form.action = urljoin(self.page, values.get("action", ""))
        form.is_post = values.get("method", "get").lower() == "post"
        self.form = form
        self.forms.append(form)

    def add_option(self, values: dict[str, str]) -> None:
        if self.field is None:
            return
        self.is_text = "value" not in values
        value = values.get("value", "")
        self.field.offered.append(value)
        if "selected" in values or self.field.value is None:
            self.field.value, self.selected = value, len(self.field.offered) - 1

    def add_control(self, form: PageForm, tag: str, values: dict[str, str]) -> None:
        name, kind = values.get("name", ""), values.get("type", tag)
        if tag == "button":
            own = urljoin(self.page, values["formaction"]) if "formaction" in values else ""
            form.buttons.append((name, values.get("value", ""), own))
        elif name and kind in {"checkbox", "radio"}:
            value = values.get("value", "on")
            form.fields.append(FormField(name, kind, value if "checked" in values else None, [value]))
        elif name and kind != "file":
            value = None if tag == "select" else values.get("value", "")
            form.fields.append(FormField(name, kind, value))
            self.field = form.fields[-1] if tag in {"select", "textarea"} else None

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.form = None
        elif tag in {"select", "textarea"}:
            self.field = None

    def handle_data(self, data: str) -> None:
        if self.field is not None and self.field.kind == "textarea":
            self.field.value = f"{self.field.value}{data}"
        elif self.field is not None and self.is_text and data.strip():  # an option whose text is its value
            self.field.offered[-1], self.is_text = data.strip(), False
            if self.selected == len(self.field.offered) - 1:
                self.field.value = data.strip()


def parse_forms(page: str, content: str) -> list[PageForm]:
    """Return the forms of a page that are sent by POST."""
    parser = FormParser(page)
    parser.feed(content)
    return [form for form in parser.forms if form.is_post]
