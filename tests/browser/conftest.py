"""A real Chromium of the machine; where there is none, these tests are skipped and say so."""

import json
import os
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import expect

from companies.models import User
from tests.browser.demo_site import DemoSite, fill_demo_directory, serve_demo_site
from tests.machine import copy_directory, create_machine
from tests.prepared_folder import get_run_folder, prepare_folder

expect.set_options(timeout=60_000)  # milliseconds: a machine may have much else to do
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"  # playwright's loop runs in the thread that uses the database
# The first has no windows, and takes half the time of the others.
CHROMIUM_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
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


@pytest.fixture(scope="module")
def shared_context(browser: Any, browser_context_args: dict[str, Any]) -> Iterator[Any]:
    context = browser.new_context(**browser_context_args)
    yield context
    context.close()


@pytest.fixture
def context(shared_context: Any) -> Iterator[Any]:
    """A browser in which nobody is signed in. The files of earlier pages are in its cache, which saves a test half of
    what it takes in a new one."""
    yield shared_context
    for page in shared_context.pages:
        if page.url.startswith("http"):
            page.evaluate("localStorage.clear()")
        page.close()
    shared_context.clear_cookies()
    shared_context.clear_permissions()


@pytest.fixture
def page(context: Any) -> Any:
    return context.new_page()


def sign_in_by_cookie(page: Any, address: str, user: User) -> None:
    """Give the browser a session of the user, as after the sign-in page, at a live server's address."""
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    name = settings.SESSION_COOKIE_NAME
    page.context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": address}])


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
    prepared = prepare_folder(get_run_folder(tmp_path_factory, worker_id), "demo-site", fill_demo_directory)
    with create_machine() as machine:
        copy_directory(prepared / "var", machine.home / "var")
        with serve_demo_site(machine, json.loads((prepared / "company.json").read_text())) as site:
            yield site


@pytest.fixture(scope="session")
def cookies(served: DemoSite, browser: Any) -> Any:
    return served.signed_in(browser)


class Tabs(dict[tuple[str, bool], Any]):
    """Pages of a signed-in user by language, and whether scripts run; each is opened when it is first asked for.

    Tests go on in them. A new page has an empty cache and costs as much as what is looked at there.
    """

    def __init__(self, browser: Any, **options: Any) -> None:
        self.browser, self.options = browser, options

    def __missing__(self, key: tuple[str, bool]) -> Any:
        locale, script = key
        context = self.browser.new_context(locale=locale, java_script_enabled=script, **self.options)
        self[key] = context.new_page()
        return self[key]

    def close(self) -> None:
        for page in self.values():
            page.context.close()


@pytest.fixture(scope="module")
def tabs(browser: Any, served: DemoSite, cookies: Any) -> Iterator[Tabs]:
    """Pages of the owner to go on in."""
    permissions = ["clipboard-read", "clipboard-write"]
    tabs = Tabs(browser, base_url=served.url, storage_state=cookies, permissions=permissions)
    yield tabs
    tabs.close()


@pytest.fixture
def open_page(tabs: Tabs, served: DemoSite) -> Callable[..., Any]:
    """Opens a page of the company in a window of this size, in English or German, with or without JavaScript."""

    def open_at(path: str, width: int, height: int = 900, *, locale: str = "en", script: bool = True) -> Any:
        page = tabs[locale, script]
        page.emulate_media(media="screen")
        page.set_viewport_size({"width": width, "height": height})
        page.goto(f"/app/companies/{served.company_id}/{path}")
        return page

    return open_at
