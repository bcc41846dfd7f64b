"""A request for a host that is not ours."""

import logging


def test_foreign_host_is_rejected_without_traceback(client, settings, caplog):
    settings.ALLOWED_HOSTS = ["finance.example"]
    with caplog.at_level(logging.INFO):
        for path in ("/companies", "/app/sign-in", "/auth/token", "/nothing"):
            assert client.get(path, headers={"host": "evil.example"}).status_code == 400, path
    assert [record for record in caplog.records if record.exc_info] == []
