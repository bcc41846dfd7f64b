"""The examples in the READMEs of the clients run as they are written, against a running server."""

import subprocess
import sys

import pytest

from oauth.registration import register_app
from tests.clients.client_packages import read_examples
from tests.clients.test_python import finish_authorization
from tests.oauth.conftest import REDIRECT, OAuthFlow

pytestmark = pytest.mark.server
PRINTED = "2026-01-05 -12.50 Coffee bar\n"


def fill_in(example: str, values: dict[str, str]) -> str:
    for placeholder, value in values.items():
        assert placeholder in example
        example = example.replace(placeholder, value)
    return example


@pytest.fixture
def placeholders(site, api, acme):
    return {"https://api.example.com": site, "svc_…": api.key, "00000000-0000-0000-0000-000000000000": str(acme.id)}


def test_python_readme_lists_the_transaction_it_creates(python_shelf, placeholders):
    example, _ = read_examples("python", "python")
    words = [sys.executable, "-c", fill_in(example, placeholders)]
    ran = subprocess.run(
        words, env={"PYTHONPATH": str(python_shelf / "site")}, capture_output=True, text=True, check=False
    )
    assert (ran.stdout, ran.stderr) == (PRINTED, "")


def test_python_readme_signs_a_user_in(generated, site, settings, alice, acme):
    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "testserver"]  # the browser's name for the server
    application = register_app(name="Forecaster", redirect_uris=[REDIRECT], allowed=[], confidential=False).application
    values = {"https://api.example.com": site, "…": application.client_id, "https://app.example.com/callback": REDIRECT}
    _, example = read_examples("python", "python")
    printed = []
    variables = {"print": printed.append}
    variables["input"] = lambda: finish_authorization(OAuthFlow(application), variables["sign_in"], alice, acme)
    exec(compile(fill_in(example, values), "README.md", "exec"), variables)
    assert printed == [variables["sign_in"].url, "Acme"]


def test_typescript_readme_compiles_and_lists_the_transaction_it_creates(typescript_package, placeholders):
    program = typescript_package / "dist" / "readme.js"  # compiled with the client
    program.write_text(fill_in(program.read_text(), placeholders))
    ran = subprocess.run(["node", program], capture_output=True, text=True, check=False, timeout=120)
    assert (ran.stdout, ran.stderr) == (PRINTED, "")
