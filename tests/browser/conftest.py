"""A real Chromium of the machine; where there is none, these tests are skipped and say so."""

import json
import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.demo_site import DemoSite, prepare_demo_directory, serve_demo_site
from tests.machine import copy_directory, create_machine

expect.set_options(timeout=60_000)  # milliseconds: a machine may have much else to do
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"  # playwright's loop runs in the thread that uses the database
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find_chromium() -> str | None:
    """The machine's own Chromium."""
    return next((path for name in CHROMIUM_NAMES if (path := shutil.which(name))), None)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    chromium = find_chromium()
    if chromium is None:
        pytest.skip(f"none of {', '.join(CHROMIUM_NAMES)} is installed: no test in a browser")
    return browser_type_launch_args | {"executable_path": chromium, "args": list(CHROMIUM_FLAGS)}


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict[str, Any]) -> dict[str, Any]:
    """Days are written as for a reader of whom no country is known."""
    return browser_context_args | {"locale": "en"}


@pytest.fixture
def app_site() -> Iterator[Any]:
    """The site of an app on this machine; it keeps the paths it was called at."""
    with serve_app(HTTPServer) as server:
        yield server


class IPv6Server(HTTPServer):
    address_family = socket.AF_INET6


@pytest.fixture
def ipv6_app_site() -> Iterator[Any]:
    """The same on the IPv6 loopback address."""
    with serve_app(IPv6Server) as server:
        yield server


@contextmanager
def serve_app(server_class: type[HTTPServer]) -> Iterator[Any]:
    """Serve an app: /redirect leads on to the same server by the name localhost, another origin."""
    called: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            called.append(self.path)
            redirects = self.path.startswith("/redirect")
            self.send_response(302 if redirects else 200)
            if redirects:
                self.send_header("Location", f"http://localhost:{self.server.server_port}/callback?{self.path}")
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<h1>Back in the app</h1>")

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    host = "::1" if server_class.address_family == socket.AF_INET6 else "127.0.0.1"
    server = server_class((host, 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    server.called = called  # type: ignore[attr-defined]
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def complaints(page: Any) -> Iterator[list[str]]:
    """What the browser's console said of broken policies and scripts; nothing, at the end of every walk."""
    texts: list[str] = []
    page.on("console", lambda message: texts.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: texts.append(str(error)))
    yield texts
    assert [text for text in texts if "Failed to load resource" not in text] == []


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[DemoSite]:
    """A server with a company that has something on every page. Tests only look.

    Each worker of xdist has its own, on a copy of the data that one of them created.
    """
    folder = tmp_path_factory.getbasetemp()
    prepared = prepare_demo_directory(folder if worker_id == "master" else folder.parent)
    with create_machine() as machine:
        copy_directory(prepared / "var", machine.home / "var")
        with serve_demo_site(machine, json.loads((prepared / "company.json").read_text())) as site:
            yield site


@pytest.fixture(scope="session")
def cookies(served: DemoSite, browser: Any) -> Any:
    return served.signed_in(browser)
