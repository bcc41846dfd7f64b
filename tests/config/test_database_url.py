"""DATABASE_URL: what is read from it, and what is said about a wrong one."""

import socket
import time

import pytest

from config.databases.connection import DatabaseUnavailable, build_database_settings, check_database_reachable


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("postgresql://u:p%40ss@db.example:6432/books", ("books", "u", "p@ss", "db.example", "6432")),
        ("postgres://u@/books?host=%2Frun%2Fpg", ("books", "u", "", "/run/pg", "")),
        ("postgresql://u:p@[::1]/b%20c", ("b c", "u", "p", "::1", "")),
    ],
)
def test_database_url_is_parsed_with_escapes(tmp_path, url, expected):
    database_settings = build_database_settings(url=url, data_dir=tmp_path)
    assert tuple(database_settings[name] for name in ("NAME", "USER", "PASSWORD", "HOST", "PORT")) == expected


def test_database_url_passes_options_and_limits_connect_timeout(tmp_path):
    database_settings = build_database_settings(
        url="postgresql://u@h/b?sslmode=require&connect_timeout=60", data_dir=tmp_path
    )
    assert database_settings["OPTIONS"] == {"sslmode": "require", "connect_timeout": 4}


@pytest.mark.parametrize(
    "url",
    [
        "",
        "hunter2",
        "mysql://u:hunter2@h/b",
        "postgresql://u:hunter2@h",
        "postgresql://u:hunter2@h:port/b",
        "postgresql://u:hunter2@h:99999/b",
        "postgresql://u:hunter2%zz@h/b",
        "postgresql://u:hunter2@h/b?nonsense=1",
        "postgresql://u:hunter2@h/b?connect_timeout=soon",
        "postgresql://u:hunter2@h:٣/b",
        "postgresql://u:hunter2@h/b?connect_timeout=٣",
        f"postgresql://u:hunter2@h:{'9' * 5000}/b",
        f"postgresql://u:hunter2@h/b?connect_timeout={'9' * 5000}",
    ],
)
def test_invalid_database_url_error_is_one_line_without_password(tmp_path, url):
    with pytest.raises(ValueError, match=r"^DATABASE_URL [^\n]*$") as caught:
        build_database_settings(url=url, data_dir=tmp_path)
    assert "hunter2" not in str(caught.value)


def test_missing_database_url_uses_embedded_server(tmp_path):
    database_settings = build_database_settings(url=None, data_dir=tmp_path)
    assert (database_settings["NAME"], database_settings["HOST"]) == ("app", str(tmp_path / "postgres"))
    assert database_settings["CONN_HEALTH_CHECKS"]


BUSY_SECONDS = 10  # seconds that a machine with much else to do may add; without a limit of ours it would be minutes


@pytest.mark.parametrize("how", ["silent", "closed", "unknown"])
def test_unreachable_database_url_is_reported_within_ten_seconds(tmp_path, how):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        if how == "closed":
            silent.close()
        host = "no-such-host.invalid" if how == "unknown" else "127.0.0.1"
        database = build_database_settings(url=f"postgresql://u:hunter2@{host}:{port}/b", data_dir=tmp_path)
        began = time.monotonic()
        with pytest.raises(DatabaseUnavailable, match=rf"^DATABASE_URL: .*{host}:{port}/b[^\n]*$") as caught:
            check_database_reachable(database)
    assert time.monotonic() - began < 10 + BUSY_SECONDS
    assert "hunter2" not in str(caught.value)
