"""How the document says that its operations are called: each sample asks what the operation's example asks."""

import ast
import json
import re
import shlex
import shutil
import subprocess
from itertools import pairwise
from urllib.parse import parse_qsl, urlsplit

import pytest

from companies.api.openapi.reference import build_openapi_document

DOCUMENT = json.loads(build_openapi_document())
OPERATIONS = [
    pytest.param(path, method, operation, id=operation["operationId"])
    for path, item in DOCUMENT["paths"].items()
    for method, operation in item.items()
]


def get_sample_source(operation, label):
    return next(each["source"] for each in operation["x-codeSamples"] if each["label"] == label)


def get_example(operation):
    """(kind of body, its example)"""
    content = operation.get("requestBody", {}).get("content", {})
    return next(((kind, media["example"]) for kind, media in content.items()), (None, None))


def list_example_parameters(operation):
    shown = [each for each in operation.get("parameters", ()) if each.get("in") == "query" and "example" in each]
    return {each["name"]: each["example"] for each in shown}


@pytest.mark.parametrize(("path", "method", "operation"), OPERATIONS)
def test_curl_sample_sends_the_documented_example(path, method, operation):
    words = shlex.split(get_sample_source(operation, "curl").replace("\\\n", ""))
    assert words[:3] == ["curl", "-X", method.upper()]
    address = urlsplit(words[3])
    assert address.path == re.sub(r"{(\w+)}", r"$\1", path)
    assert set(dict(parse_qsl(address.query))) == set(list_example_parameters(operation))
    assert "Authorization: Bearer $TIDEBOOK_API_KEY" in words
    kind, sent = get_example(operation)
    if kind == "application/json":
        assert json.loads(words[words.index("-d") + 1]) == sent
    elif kind:
        assert {word.partition("=")[0] for flag, word in pairwise(words) if flag == "-F"} == set(sent)


@pytest.mark.parametrize(("path", "method", "operation"), OPERATIONS)
def test_python_sample_sends_the_documented_example(path, method, operation):
    tree = ast.parse(get_sample_source(operation, "Python"))
    call = next(
        node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("requests.")
    )
    assert ast.unparse(call.func) == f"requests.{method}"
    given = {each.arg: each.value for each in call.keywords}
    kind, sent = get_example(operation)
    if kind == "application/json":
        assert ast.literal_eval(given["json"]) == sent
    elif kind:
        assert {*ast.literal_eval(given["data"]), "file"} == set(sent)
    assert {*(ast.literal_eval(given["params"]) if "params" in given else ())} == set(
        list_example_parameters(operation)
    )


def test_javascript_samples_have_valid_syntax(tmp_path):
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node on this machine: the JavaScript samples are not read")
    everything = tmp_path / "samples.mjs"
    blocks = [
        get_sample_source(each.values[2], "JavaScript").replace('import fs from "node:fs";\n', "")
        for each in OPERATIONS
    ]
    everything.write_text("".join(f"{{\n{block}\n}}\n" for block in blocks))
    done = subprocess.run([node, "--check", str(everything)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
