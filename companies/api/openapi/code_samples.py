"""Code samples of each operation in curl, Python and JavaScript, built from its example."""

import json
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

API_KEY_VARIABLE = "TIDEBOOK_API_KEY"  # environment variable with the API key
PATH_PARAMETER = re.compile(r"{(\w+)}")
MULTIPART = "multipart/form-data"
SAMPLE_FILE, SAVED_FILE = "your-file", "answer"
JS_OPEN_FILE = f'form.append("file", await fs.openAsBlob("{SAMPLE_FILE}"));\n'
JS_CHECK_ANSWER = "if (!answer.ok) throw new Error(await answer.text());"


@dataclass(frozen=True)
class SampleCall:
    """An operation with the values of its example."""

    method: str
    url: str  # with {names} for path parameters
    query: dict[str, Any]
    body: Any  # None without a body
    is_form: bool  # whether the body is a form with a file
    is_file_answer: bool  # whether the response is a file


def add_code_samples(document: dict[str, Any]) -> None:
    """Add ``x-codeSamples`` to each operation, as OpenAPI tools read them."""
    base = document["servers"][0]["url"]
    for path, item in document["paths"].items():
        for method, operation in item.items():
            call = build_sample_call(method.upper(), base + path, operation)
            operation["x-codeSamples"] = [
                {"lang": "Shell", "label": "curl", "source": render_curl_sample(call)},
                {"lang": "Python", "label": "Python", "source": render_python_sample(call)},
                {"lang": "JavaScript", "label": "JavaScript", "source": render_javascript_sample(call)},
            ]


def build_sample_call(method: str, address: str, operation: dict[str, Any]) -> SampleCall:
    """Build the sample call of an operation."""
    content = operation.get("requestBody", {}).get("content", {})
    answer = next(each for status, each in operation["responses"].items() if status.startswith("2"))
    query_parameters = [
        each for each in operation.get("parameters", ()) if each.get("in") == "query" and "example" in each
    ]
    return SampleCall(
        method=method,
        url=address,
        query={each["name"]: to_query_text(each["example"]) for each in query_parameters},
        body=next((media.get("example") for media in content.values()), None),
        is_form=MULTIPART in content,
        is_file_answer=not {"application/json"} & set(answer.get("content", {"application/json": {}})),
    )


def to_query_text(value: Any) -> str:
    """Return a value as text for a query string."""
    return value if isinstance(value, str) else json.dumps(value)


def render_curl_sample(call: SampleCall) -> str:
    """Render the curl command."""
    address = PATH_PARAMETER.sub(r"$\1", call.url) + build_query_string(call)
    parts = [f'curl -X {call.method} "{address}"']
    parts.append(f'-H "Authorization: Bearer ${API_KEY_VARIABLE}"')
    if call.is_form:
        parts += [f"-F {escape_for_shell(f'{name}={value}')}" for name, value in list_form_fields(call).items()]
        parts.append(f"-F file=@{SAMPLE_FILE}")
    elif call.body is not None:
        parts += [
            '-H "Content-Type: application/json"',
            f"-d {escape_for_shell(json.dumps(call.body, ensure_ascii=False))}",
        ]
    if call.is_file_answer:
        parts.append("-OJ")
    return " \\\n  ".join(parts)


def escape_for_shell(text: str) -> str:
    """Quote a text for the shell with single quotes."""
    return "'" + text.replace("'", "'\\''") + "'"


def render_python_sample(call: SampleCall) -> str:
    """Render the Python sample."""
    address = PATH_PARAMETER.sub(lambda name: "{" + to_snake_case(name[1]) + "}", call.url)
    lines = [f'f"{address}"' if "{" in address else f'"{address}"']
    lines.append(f"""headers={{"Authorization": f"Bearer {{os.environ['{API_KEY_VARIABLE}']}}"}}""")
    if call.query:
        lines.append(f"params={format_python_literal(call.query)}")
    if call.is_form:
        lines.append(f'files={{"file": open("{SAMPLE_FILE}", "rb")}}')
        lines.append(f"data={format_python_literal(list_form_fields(call))}")
    elif call.body is not None:
        lines.append(f"json={format_python_literal(call.body)}")
    arguments = "".join(f"    {line},\n" for line in lines)
    output_line = f'open("{SAVED_FILE}", "wb").write(answer.content)' if call.is_file_answer else "print(answer.json())"
    return (
        f"import os\n\nimport requests\n\nanswer = requests.{call.method.lower()}(\n{arguments})\n"
        f"answer.raise_for_status()\n{output_line}"
    )


def render_javascript_sample(call: SampleCall) -> str:
    """Render the JavaScript sample."""
    address = PATH_PARAMETER.sub(r"${\1}", call.url) + build_query_string(call)
    headers, preamble, lines = (
        f"Authorization: `Bearer ${{process.env.{API_KEY_VARIABLE}}}`",
        "",
        [f'method: "{call.method}"'],
    )
    if call.is_form:
        preamble = f'import fs from "node:fs";\n\nconst form = new FormData();\n{JS_OPEN_FILE}'
        for name, value in list_form_fields(call).items():
            preamble += f"form.append({json.dumps(name)}, {json.dumps(value)});\n"
        lines += [f"headers: {{ {headers} }}", "body: form"]
    elif call.body is not None:
        lines.append(f'headers: {{ {headers}, "Content-Type": "application/json" }}')
        lines.append(f"body: JSON.stringify({format_indented(json.dumps(call.body, ensure_ascii=False, indent=2))})")
    else:
        lines.append(f"headers: {{ {headers} }}")
    options = "".join(f"  {line},\n" for line in lines)
    output_line = (
        "const bytes = await answer.arrayBuffer();" if call.is_file_answer else "console.log(await answer.json());"
    )
    return f"{preamble}const answer = await fetch(`{address}`, {{\n{options}}});\n{JS_CHECK_ANSWER}\n{output_line}"


def build_query_string(call: SampleCall) -> str:
    """Build the query string."""
    return f"?{urlencode(call.query)}" if call.query else ""


def list_form_fields(call: SampleCall) -> dict[str, str]:
    """Return the form fields other than the file."""
    return {name: to_query_text(value) for name, value in call.body.items() if name != "file"}


def format_python_literal(value: Any, depth: int = 1) -> str:
    """Format a value as a Python literal, as an argument of a call."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or not value:
        return repr(value)
    items = [format_python_literal(each, depth + 1) for each in (value.values() if isinstance(value, dict) else value)]
    if isinstance(value, dict):
        items = [f"{format_python_literal(name)}: {item}" for name, item in zip(value, items, strict=True)]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    lines = "".join(f"{'    ' * (depth + 1)}{item},\n" for item in items)
    return f"{opening}\n{lines}{'    ' * depth}{closing}"


def format_indented(text: str) -> str:
    """Indent all lines after the first."""
    return text.replace("\n", "\n  ")


def to_snake_case(name: str) -> str:
    """Convert camelCase to snake_case."""
    return re.sub(r"[A-Z]", lambda letter: "_" + letter[0].lower(), name)
