"""Fixtures of every test: the database, Acme and Globex, and callers with every kind of credential."""

import gc
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.cache import caches
from django.db import connection
from django.test import Client, override_settings
from hypothesis import HealthCheck, Phase
from hypothesis import settings as examples
from pytest_django.live_server_helper import LiveServer

from companies import email_limits, mailer
from companies.actions import companies, invitations
from companies.api import request_slots
from companies.auth import api_keys, authentication, throttling
from companies.models import AuditContext, Company, User
from companies.permissions import ALL_PERMISSIONS, parse_permissions
from config.databases.connection import EmbeddedDatabase
from config.databases.distribution import distribute_tables
from config.environment import build_private_storage
from tests import (
    base_rows,
    cluster,
    cross_shard_statements,
    database_cleanup,
    error_validation,
    response_validation,
    run_date,
    static_file_cache,
    template_database,
)
from tests.npm import install_packages

CLIENTS = Path(__file__).parent / "clients"  # in JavaScript

# For `make mutants`: the same examples each time, on machines of any speed, and no search for the smallest that fails.
examples.register_profile(
    "mutants",
    derandomize=True,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
# For all else, and on CI, which has the same examples each time: a busy machine takes its time to make them up. They
# share what the test's fixtures made.
examples.register_profile(
    "unhurried",
    parent=examples(),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
examples.load_profile("unhurried")

static_file_cache.cache_static_files()

pytest_plugins = ["tests.run_count"]


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, django_db_blocker: Any
) -> Iterator[None]:
    """The embedded server runs for as long as the tests do, and has a database to copy; a DATABASE_URL is taken as it
    is."""
    if not settings.EMBEDDED:
        yield
        return
    embedded = EmbeddedDatabase(data_dir=settings.DATA_DIR)
    with embedded.run_while_used():
        with django_db_blocker.unblock():
            connection.settings_dict["TEST"]["TEMPLATE"] = template_database.prepare_test_template(embedded)
        yield


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    """The test database starts with the packaged rates; where the tests run on a cluster, it is distributed."""
    with django_db_blocker.unblock():
        if cluster.TESTS_RUN_ON_CLUSTER:
            cluster.join_cluster(connection.settings_dict["NAME"])
            distribute_tables(shards=cluster.SHARDS, report_step=lambda step: None)
            connection.close()  # a new session knows what this set for the database
        with connection.cursor() as cursor:  # after a test that commits, Django empties all tables
            cursor.execute("SELECT tgrelid::regclass::text, tgname FROM pg_trigger WHERE tgname ~ 'never_emptied$'")
            for part, trigger in cursor.fetchall():
                cursor.execute(f"ALTER TABLE {part} DISABLE TRIGGER {trigger}")
            if cluster.TESTS_RUN_ON_CLUSTER:
                cluster.allow_audit_truncation(cursor)
        database_cleanup.install_cleanup()
        base_rows.prepare_sets()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that start servers come first, then those of most tests: what takes minutes is not begun at the end, when
    the other workers have nothing left."""
    test_counts = Counter(item.path for item in items)
    slow = {item.path for item in items if item.get_closest_marker("server") or item.get_closest_marker("browser")}
    items.sort(key=lambda item: (item.path not in slow, -test_counts[item.path], item.path))


def pytest_collection_finish() -> None:
    """The objects of all collected tests live to the end: the garbage collector need not visit them again and again.
    Without this a test takes a sixth more of processor time."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Around the test and its fixtures, those of its module too."""
    with run_date.keep_date(getattr(item, "module", None)):
        return (yield)


@pytest.fixture(scope="session", autouse=True)
def quick_and_private(tmp_path_factory: Any) -> Iterator[Path]:
    """Passwords are hashed quickly, mail is sent at once, no budget runs out by accident, and files go to a folder of
    the run; yields that folder."""
    folder = tmp_path_factory.mktemp("stored")
    storages = {
        **settings.STORAGES,
        "default": build_private_storage(folder / "files"),
        "assets": build_private_storage(folder / "assets"),
    }
    quick_settings = {
        "PASSWORD_HASHERS": ["django.contrib.auth.hashers.MD5PasswordHasher"],
        "RATE_LIMIT": 1_000_000,
        "SIGN_IN_LIMIT": 1_000_000,
        "REQUESTS_PER_CREDENTIAL": 100,
        "THREADS": 200,
        "STAFF_MFA": False,  # what staff may do is another matter than how they get in
        "STORAGES": storages,
    }
    with pytest.MonkeyPatch.context() as patch, override_settings(**quick_settings):
        patch.setattr(mailer, "submit_email", mailer.send_email)
        for limit in ("MAX_EMAILS_PER_ADDRESS_PER_DAY", "MAX_INVITATIONS_PER_USER_PER_DAY"):
            patch.setattr(invitations, limit, 1_000_000)
        patch.setattr(companies, "MAX_COMPANIES_PER_DAY", 1_000_000)
        patch.setattr(email_limits, "MAX_EMAILS_PER_HOUR", 1_000_000)
        # No statement more where a test takes a minute.
        patch.setattr(authentication, "LAST_USED_INTERVAL", timedelta(days=1))
        yield folder


@pytest.fixture(autouse=True)
def separate(quick_and_private: Path) -> Iterator[None]:
    """No test finds what an earlier one counted, cached or stored."""
    throttling.reset_local_counts()
    request_slots.COMPANY_REQUESTS.clear()  # of tests that did not read a streamed response to its end
    request_slots.CREDENTIAL_SLOTS.clear()
    authentication.get_key_company_id.cache_clear()
    for cache in caches.all(initialized_only=True):
        cache.clear()
    yield
    for folder in quick_and_private.iterdir():
        shutil.rmtree(folder)


@pytest.fixture
def stored_files(quick_and_private: Path) -> Path:
    """The folder of the files that users upload."""
    return quick_and_private / "files"


@pytest.fixture(autouse=True)
def refusals_are_documented(monkeypatch: Any) -> Iterator[None]:
    """Whatever a test asks for: the document tells of every refusal that its operation answers."""
    results = error_validation.watch_errors(monkeypatch)
    yield
    assert results == []


@pytest.fixture(autouse=True)
def answers_are_documented(monkeypatch: Any) -> Iterator[None]:
    """Whatever a test calls: each success is as the document describes it."""
    wrong = response_validation.watch_answers(monkeypatch)
    yield
    assert wrong == []


@pytest.fixture(autouse=True)
def watched(monkeypatch: Any) -> Iterator[cross_shard_statements.StatementLog]:
    """Whatever a test asks for: no request asks every machine of a cluster, but for those of staff."""
    results = cross_shard_statements.watch_statements(monkeypatch)
    yield results
    assert results.of_all == []


@pytest.fixture
def now() -> datetime:
    return datetime.now(tz=UTC)


@pytest.fixture
def audit_context(now: datetime) -> AuditContext:
    return AuditContext(time=now)


@pytest.fixture
def acme(db: None) -> Company:
    return base_rows.copy_set("acme")


@pytest.fixture
def globex(db: None) -> Company:
    return base_rows.copy_set("globex")


@pytest.fixture
def alice(acme: Company) -> User:
    """Owns Acme."""
    return base_rows.copy_set("alice")


@pytest.fixture
def bob(acme: Company) -> User:
    """May read Acme."""
    return base_rows.copy_set("bob")


@pytest.fixture
def carol(globex: Company) -> User:
    """Owns Globex."""
    return base_rows.copy_set("carol")


class Api:
    """A small HTTP client of one credential; paths are relative to the company where they do not start with a slash."""

    def __init__(self, company: Company, *, key: str | None = None, session: Client | None = None):
        self.company, self.client = company, session or Client()
        self.headers = {"Authorization": f"Bearer {key}"} if key else {}
        self.key = key

    def path(self, path: str) -> str:
        path = path.removeprefix(settings.BASE_URL)  # of a Link
        return path if path.startswith("/") else f"/companies/{self.company.id}/{path}".rstrip("/")

    def get(self, path: str = "", params: Any = None, **headers: str) -> Any:
        return self.client.get(self.path(path), params, headers=self.headers | to_header_names(headers))

    def post(self, path: str = "", body: Any = None, **headers: str) -> Any:
        return self.client.post(
            self.path(path), body, content_type="application/json", headers=self.headers | to_header_names(headers)
        )

    def put(self, path: str = "", body: Any = None, **headers: str) -> Any:
        body = "" if body is None else body  # the test client would send the word None
        return self.client.put(
            self.path(path), body, content_type="application/json", headers=self.headers | to_header_names(headers)
        )

    def delete(self, path: str = "", **headers: str) -> Any:
        return self.client.delete(self.path(path), headers=self.headers | to_header_names(headers))


def to_header_names(headers: dict[str, str]) -> dict[str, str]:
    """if_match → If-Match"""
    return {name.replace("_", "-"): value for name, value in headers.items()}


@pytest.fixture
def make_api() -> Any:
    """Makes a caller with an API key of the given permissions (all, where none are named)."""

    def make(company: Company, *permissions: str) -> Api:
        held = parse_permissions(permissions) if permissions else ALL_PERMISSIONS
        minted = api_keys.create_api_key(
            company=company,
            context=AuditContext(time=datetime.now(tz=UTC)),
            name="test",
            permissions=held,
            creator=None,
        )
        return Api(company, key=minted.text)

    return make


@pytest.fixture
def api(acme: Company) -> Api:
    """Acme's caller with every permission."""
    return Api(acme, key=base_rows.copy_set("acme_key"))


@pytest.fixture
def globex_api(globex: Company) -> Api:
    return Api(globex, key=base_rows.copy_set("globex_key"))


@pytest.fixture
def browser_of() -> Any:
    """Makes a caller with the session of a user."""

    def make(user: User, company: Company) -> Api:
        client = Client()
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        return Api(company, session=client)

    return make


@pytest.fixture
def age_session() -> Any:
    """Makes a browser's sign-in eleven minutes old, too old for step-up authentication."""

    def age(client: Client) -> None:
        session = client.session
        session["auth_time"] = session["seen_time"] = datetime.now(tz=UTC).timestamp() - 11 * 60
        session.save()

    return age


@pytest.fixture
def owner(browser_of: Any, alice: User, acme: Company) -> Client:
    """Alice's browser."""
    return browser_of(alice, acme).client


@pytest.fixture
def viewer(browser_of: Any, bob: User, acme: Company) -> Client:
    """Bob's, who may only look."""
    return browser_of(bob, acme).client


@dataclass
class Invitation:
    """An invited person: the API's answer and the path of the mailed link."""

    answer: Any
    link: str

    @property
    def id(self) -> str:
        return str(self.answer.json()["id"])

    def accept(self, client: Client | None = None, **typed: str) -> Any:
        """Says yes; with a new password, where the client is signed in as nobody."""
        form = {"decision": "accept", "new_password1": PASSWORD, "new_password2": PASSWORD, **typed}
        return (client or Client()).post(self.link, form)


PASSWORD = "correct horse battery"


@pytest.fixture
def invited(mailoutbox: Any, django_capture_on_commit_callbacks: Any) -> Any:
    """Invites somebody into a caller's company."""

    def make(caller: Api, email: str, **more: Any) -> Invitation:
        with django_capture_on_commit_callbacks(execute=True):
            answer = caller.post("members", {"email": email, "role": "viewer", **more})
        assert answer.status_code == 201, answer.content
        return Invitation(answer, find_mailed_link(mailoutbox[-1]))

    return make


def find_mailed_link(mail: Any) -> str:
    """Return the path of the only link in a mail."""
    return re.search(r"https?://[^/\s]+(/\S+)", mail.body)[1]  # type: ignore[index]


def build_oauth_settings(base: str) -> dict[str, Any]:
    """What the toolkit is told of its own address."""
    return {
        "OIDC_ISS_ENDPOINT": f"{base}/auth",
        "OAUTH2_PROTECTED_RESOURCE_IDENTIFIER": base,
        "OAUTH2_PROTECTED_RESOURCE_AUTHORIZATION_SERVERS": [f"{base}/auth"],
    }


@pytest.fixture(scope="session")
def site_server() -> Iterator[LiveServer]:
    """One for all tests, so that a browser has the files of earlier pages in its cache."""
    server = LiveServer("127.0.0.1")
    yield server
    server.stop()


@pytest.fixture
def site(transactional_db: None, site_server: LiveServer, settings: Any) -> str:
    """A running server on 127.0.0.1 that knows its own address; what is made in the test is there for it."""
    settings.ALLOWED_HOSTS = ["127.0.0.1"]
    settings.BASE_URL = site_server.url
    settings.AUTH_URL = f"{site_server.url}/auth"
    settings.OAUTH2_PROVIDER = settings.OAUTH2_PROVIDER | build_oauth_settings(site_server.url)
    settings.APP_URL = f"{site_server.url}/app"
    settings.ASSETS_URL = f"{site_server.url}/assets"
    settings.CSRF_TRUSTED_ORIGINS = [site_server.url]
    return str(site_server.url)


@pytest.fixture(scope="session")
def node_modules() -> None:
    """The clients in JavaScript, installed."""
    install_packages("clients", package="openid-client")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """What tests tell of a run that went well: counts that a person can cite."""
    passed = terminalreporter.stats.get("passed", [])
    texts = [each for report in passed for each in report.user_properties]
    if lines := [value for name, value in texts if name == "report"]:
        terminalreporter.section("reported by the tests")
        for line in lines:
            terminalreporter.write_line(line)
    if kills := sum(value for name, value in texts if name == "kills survived"):
        terminalreporter.write_line(f"{kills} kills survived")
