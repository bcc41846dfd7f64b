"""How each operation is called in curl, Python and JavaScript, made from its example for readers of the document."""

import json
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

KEY = "TIDEBOOK_API_KEY"  # the variable of the environment that holds the caller's key
PARAMETER = re.compile(r"{(\w+)}")
FORM = "multipart/form-data"
FILE, SAVED = "your-file", "answer"
OPENED = f'form.append("file", await fs.openAsBlob("{FILE}"));\n'
CHECKED = "if (!answer.ok) throw new Error(await answer.text());"


@dataclass(frozen=True)
class Call:
    """An operation with the values of its example."""

    method: str
    address: str  # with {names} for what the caller puts in
    query: dict[str, Any]
    body: Any  # None where nothing is sent
    form: bool  # whether the body goes as a form with a file
    saved: bool  # whether the answer is a file


def add_samples(document: dict[str, Any]) -> None:
    """Each operation gets ``x-codeSamples``, as tools for OpenAPI documents read them."""
    base = document["servers"][0]["url"]
    for path, item in document["paths"].items():
        for method, operation in item.items():
            call = called(method.upper(), base + path, operation)
            operation["x-codeSamples"] = [
                {"lang": "Shell", "label": "curl", "source": curl(call)},
                {"lang": "Python", "label": "Python", "source": python(call)},
                {"lang": "JavaScript", "label": "JavaScript", "source": javascript(call)},
            ]


def called(method: str, address: str, operation: dict[str, Any]) -> Call:
    content = operation.get("requestBody", {}).get("content", {})
    answer = next(each for status, each in operation["responses"].items() if status.startswith("2"))
    shown = [each for each in operation.get("parameters", ()) if each.get("in") == "query" and "example" in each]
    return Call(
        method=method,
        address=address,
        query={each["name"]: written(each["example"]) for each in shown},
        body=next((media.get("example") for media in content.values()), None),
        form=FORM in content,
        saved=not {"application/json"} & set(answer.get("content", {"application/json": {}})),
    )


def written(value: Any) -> str:
    """A value as it stands in an address."""
    return value if isinstance(value, str) else json.dumps(value)


def curl(call: Call) -> str:
    address = PARAMETER.sub(r"$\1", call.address) + asked(call)
    parts = [f'curl -X {call.method} "{address}"']
    parts.append(f'-H "Authorization: Bearer ${KEY}"')
    if call.form:
        parts += [f"-F {quoted(f'{name}={value}')}" for name, value in fields(call).items()]
        parts.append(f"-F file=@{FILE}")
    elif call.body is not None:
        parts += ['-H "Content-Type: application/json"', f"-d {quoted(json.dumps(call.body, ensure_ascii=False))}"]
    if call.saved:
        parts.append("-OJ")
    return " \\\n  ".join(parts)


def quoted(text: str) -> str:
    """In a shell's single quotes."""
    return "'" + text.replace("'", "'\\''") + "'"


def python(call: Call) -> str:
    address = PARAMETER.sub(lambda name: "{" + snake(name[1]) + "}", call.address)
    lines = [f'f"{address}"' if "{" in address else f'"{address}"']
    lines.append(f"""headers={{"Authorization": f"Bearer {{os.environ['{KEY}']}}"}}""")
    if call.query:
        lines.append(f"params={literal(call.query)}")
    if call.form:
        lines.append(f'files={{"file": open("{FILE}", "rb")}}')
        lines.append(f"data={literal(fields(call))}")
    elif call.body is not None:
        lines.append(f"json={literal(call.body)}")
    arguments = "".join(f"    {line},\n" for line in lines)
    shown = f'open("{SAVED}", "wb").write(answer.content)' if call.saved else "print(answer.json())"
    return (
        f"import os\n\nimport requests\n\nanswer = requests.{call.method.lower()}(\n{arguments})\n"
        f"answer.raise_for_status()\n{shown}"
    )


def javascript(call: Call) -> str:
    address = PARAMETER.sub(r"${\1}", call.address) + asked(call)
    headers, before, lines = f"Authorization: `Bearer ${{process.env.{KEY}}}`", "", [f'method: "{call.method}"']
    if call.form:
        before = f'import fs from "node:fs";\n\nconst form = new FormData();\n{OPENED}'
        for name, value in fields(call).items():
            before += f"form.append({json.dumps(name)}, {json.dumps(value)});\n"
        lines += [f"headers: {{ {headers} }}", "body: form"]
    elif call.body is not None:
        lines.append(f'headers: {{ {headers}, "Content-Type": "application/json" }}')
        lines.append(f"body: JSON.stringify({inside(json.dumps(call.body, ensure_ascii=False, indent=2))})")
    else:
        lines.append(f"headers: {{ {headers} }}")
    options = "".join(f"  {line},\n" for line in lines)
    shown = "const bytes = await answer.arrayBuffer();" if call.saved else "console.log(await answer.json());"
    return f"{before}const answer = await fetch(`{address}`, {{\n{options}}});\n{CHECKED}\n{shown}"


def asked(call: Call) -> str:
    """The question at the end of an address."""
    return f"?{urlencode(call.query)}" if call.query else ""


def fields(call: Call) -> dict[str, str]:
    """What goes into a form beside the file."""
    return {name: written(value) for name, value in call.body.items() if name != "file"}


def literal(value: Any, depth: int = 1) -> str:
    """A value in Python, as an argument of a call."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or not value:
        return repr(value)
    items = [literal(each, depth + 1) for each in (value.values() if isinstance(value, dict) else value)]
    if isinstance(value, dict):
        items = [f"{literal(name)}: {item}" for name, item in zip(value, items, strict=True)]
    opened, closed = "{}" if isinstance(value, dict) else "[]"
    lines = "".join(f"{'    ' * (depth + 1)}{item},\n" for item in items)
    return f"{opened}\n{lines}{'    ' * depth}{closed}"


def inside(text: str) -> str:
    """Lines after the first stand below it."""
    return text.replace("\n", "\n  ")


def snake(name: str) -> str:
    return re.sub(r"[A-Z]", lambda letter: "_" + letter[0].lower(), name)
