"""register_app prints what the app's owner needs."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from oauth.models import Application
from oauth.registration import compute_secret_digest

pytestmark = pytest.mark.django_db


def run_register_app(*args):
    out = StringIO()
    call_command("register_app", *args, stdout=out)
    return json.loads(out.getvalue())


def test_register_app_creates_public_app():
    answer = run_register_app(
        "--name", "A", "--redirect-uri", "https://a.example/cb", "--redirect-uri", "http://127.0.0.1/cb"
    )
    application = Application.objects.get(client_id=answer["client_id"])
    assert set(answer) == {"client_id"}
    assert application.uris == ["https://a.example/cb", "http://127.0.0.1/cb"]
    assert len(application.allowed_scopes) == 6


def test_register_app_creates_confidential_app():
    answer = run_register_app(
        "--name", "A", "--redirect-uri", "https://a.example/cb", "--scopes", "svc:read openid", "--confidential"
    )
    application = Application.objects.get(client_id=answer["client_id"])
    assert application.client_secret == compute_secret_digest(answer["client_secret"])
    assert application.allowed_scopes == ["svc:read", "openid"]


def test_register_app_prints_errors_on_one_line():
    for args in [
        ["--name", "A", "--redirect-uri", "http://a.example/cb"],
        ["--name", "A", "--redirect-uri", "https://a.example/cb", "--scopes", "nonsense"],
        ["--name", "A", "--redirect-uri", "https://a.example,b.example/cb"],
        ["--name", "A", "--redirect-uri", "https://a.example:0/cb"],
        ["--name", "", "--redirect-uri", "https://a.example/cb"],
    ]:
        with pytest.raises(CommandError) as error:
            run_register_app(*args)
        assert "\n" not in str(error.value), args
        assert not Application.objects.exists(), args
