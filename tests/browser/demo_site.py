"""Every page below /app, from the URL configuration, on a running server with a demo company.

New pages are included automatically; a new kind of id in a URL needs an entry in ``LIST_OF_PARAMETER``.
"""

import fcntl
import json
import re
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from django.urls import get_resolver
from playwright.sync_api import Browser, BrowserContext

from tests.machine import Machine, copy_directory, create_prepared_machine, find_free_port
from tests.url_routes import list_url_routes

PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")
ROUTES = sorted(dict.fromkeys(route for route, _ in list_url_routes(get_resolver()) if re.match(r"app(/|$)", route)))
SIGNED_OUT = (
    "app/sign-in",
    "app/sign-up",
    "app/password-reset",
    "app/invitations",
)  # and all that begins so: there is nothing to see after signing in
DEMO_SIZE = ("--months", "14")

LIST_OF_PARAMETER = {  # parameter -> list of the API whose first entry has it as its id, below the company
    "account_id": "accounts",
    "api_key_id": "api_keys",
    "category_id": "categories",
    "counterparty_id": "counterparties",
    "file_id": "files",
    "group_id": "account_groups",
    "import_id": "imports",
    "key_id": "api_keys",
    "member_id": "members",
    "membership_id": "members",
    "notification_id": "notifications?recipientUserId=all",
    "plan_item_id": "plan_items",
    "planned_id": "planned_transactions",
    "planned_transaction_id": "planned_transactions",
    "event_id": "subscription_events",
    "product_group_id": "product_groups",
    "product_id": "products",
    "rule_id": "categorization_rules",
    "subscription_id": "subscriptions",
    "transaction_id": "transactions",
}
UNKNOWN_ID = "00000000-0000-7000-8000-000000000000"
FORMS = ("consent_id", "run_id", "delivery_id", "view_id", "passkey_id", "link_id")  # stand in addresses of forms only
GIVEN_VALUES = {"chart": "mrr", "name": "transactions.csv", "kind": "hire", "position": "0"} | dict.fromkeys(
    FORMS, UNKNOWN_ID
)
PASSWORD_RESET_SCRIPT = """
from django.contrib.auth.tokens import default_token_generator as tokens
from django.utils.http import urlsafe_base64_encode as encoded
from companies.models import User
user = User.objects.get(email="vera.board@example.com")
print(encoded(str(user.pk).encode()), tokens.make_token(user))
"""
INVITATION_SCRIPT = """
from companies.actions.invitations import hash_invitation_token
from companies.models import AuditContext, Membership
from django.utils import timezone
from datetime import timedelta
now = timezone.now()
owner = Membership.objects.for_company("{company}").owners().get(user__email="{email}")
row = Membership(
    company_id=owner.company_id, role="viewer", invited_email=f"new{{now.timestamp()}}@example.com",
    token_digest=hash_invitation_token("walked"), expires_time=now + timedelta(days=7),
).mark_created(AuditContext(time=now, actor=str(owner.user_id)))
row.save(force_insert=True)
print(row.company_id, row.id, "walked")
"""
EMAIL_CHANGE_SCRIPT = """
from companies.models import EmailChange, User
from companies.actions.email_change import hash_email_change_token
from django.utils import timezone
from datetime import timedelta
until = timezone.now() + timedelta(days=1)
row = {{"email": "new@example.com", "token_digest": hash_email_change_token("walked"), "expires_time": until}}
EmailChange.objects.update_or_create(user=User.objects.get(email="{email}"), defaults=row)
print("walked")
"""
UPLOAD_SCRIPT = """
from django.core.files.base import ContentFile
from companies.models import Membership
from ledger.imports.actions import uploads
owner = Membership.objects.for_company("{company}").owners().get(user__email="{email}")
file = ContentFile({content!r})
print(uploads.store_upload(company_id=owner.company_id, user_id=owner.user_id, file=file))
"""
SIGN_UP_SCRIPT = """
from companies.actions.sign_up import build_sign_up_token
print(build_sign_up_token("new@example.com"))
"""
INVOICE_IMPORT_SCRIPT = """
from companies.models import AuditContext, Membership
from django.utils import timezone
from planning.invoices.actions.invoice_imports import InvoiceImportOptions, import_invoices
owner = Membership.objects.for_company("{company}").owners().select_related("company").get(user__email="{email}")
content = b"Invoice number,Customer,Invoice date,Due date,Amount\\nR-0,Globex,{today},{due},70.00\\n"
outcome = import_invoices(
    company=owner.company, context=AuditContext(time=timezone.now(), actor=str(owner.user_id), user_id=owner.user_id),
    kind="receivables", content=content, filename="open.csv",
    source="manual", options=InvoiceImportOptions(),
)
print(outcome.invoice_import.id)
"""
TABLES = {  # part of a route -> the file whose review it is
    "ables/import/": b"Invoice number,Customer,Invoice date,Amount\nR-1,Globex,2026-01-05,70.00\n",
    "recurring-revenue/events/import/": b"Customer,Date,MRR\nWayne,2026-01-05,70.00\n",
}
EVENT_IMPORT_SCRIPT = """
from companies.models import AuditContext, Membership
from django.utils import timezone
from ledger.subscriptions.actions.event_file_import import EventFileOptions, import_subscription_event_file
owner = Membership.objects.for_company("{company}").owners().select_related("company").get(user__email="{email}")
outcome = import_subscription_event_file(
    company=owner.company, context=AuditContext(time=timezone.now(), actor=str(owner.user_id), user_id=owner.user_id),
    content=b"Customer,Date,MRR\\nWayne,{today},70.00\\n", filename="events.csv", options=EventFileOptions(),
)
print(outcome.event_import.id)
"""
SANDBOX_SCRIPT = """
from companies.actions.sandboxes import copy_company
from companies.models import AuditContext, Membership
from django.utils import timezone
owner = Membership.objects.for_company("{company}").owners().select_related("company").get(user__email="{email}")
context = AuditContext(time=timezone.now(), actor=str(owner.user_id), user_id=owner.user_id)
print(copy_company(company=owner.company, context=context, name="What if").id)
"""


@dataclass
class DemoSite:
    """A running server, and how to get into its demonstration company."""

    machine: Machine
    url: str
    company_id: str
    email: str
    password: str
    key: str
    known: dict[str, str] = field(default_factory=dict)  # what stood for parameters and routes that were asked for
    pages: dict[str, bool] = field(default_factory=dict)  # by path, whether a browser is shown something there

    def ask(self, path: str, body: Any = None) -> Any:
        sent = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/companies/{self.company_id}/{path}", sent)
        request.add_header("Authorization", f"Bearer {self.key}")
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def value(self, parameter: str) -> str:
        """What stands for a parameter of an address."""
        if parameter not in self.known:
            self.known[parameter] = self.look_up(parameter)
        return self.known[parameter]

    def closed_month(self) -> str:
        """The latest closed month; the first month of the data is closed if there is none."""
        closings = self.ask("closings")
        if not closings:
            first = self.ask("transactions?sort=date&limit=1")[0]["date"][:7]
            closings = [self.ask("closings", {"month": first, "acknowledge": True})]
        return str(closings[0]["month"])

    def look_up(self, parameter: str) -> str:
        if parameter == "company_id":
            return self.company_id
        if parameter in GIVEN_VALUES:
            return GIVEN_VALUES[parameter]
        if parameter == "upload_id":
            return self.upload(b"Date,Amount,Text\n2026-01-05,-4.50,Coffee\n2026-01-06,nothing,Tea\n")
        if parameter == "day":
            window = f"startDate={date.today()}&endDate={date.today() + timedelta(days=400)}"
            rule = self.ask("planned_transactions")[0]["id"]
            return self.ask(f"planned_transactions/{rule}/occurrences?{window}")[0]["originalDate"]
        if parameter in (
            makers := {
                "month": self.closed_month,
                "endpoint_id": self.endpoint,
                "scenario_id": self.scenario,
                "invoice_import_id": self.invoice_import,
                "event_import_id": self.event_import,
            }
        ):
            return makers[parameter]()
        if parameter == "customer_id":
            return str(self.ask("subscriptions")[0]["customerId"])
        if parameter not in LIST_OF_PARAMETER:
            raise LookupError(f"Say in tests/browser/demo_site.py which list of the API has a {parameter}.")
        return self.ask(LIST_OF_PARAMETER[parameter])[0]["id"]

    def upload(self, content: bytes) -> str:
        """A file that waits for its import."""
        made = UPLOAD_SCRIPT.format(company=self.company_id, email=self.email, content=content)
        return self.machine.run("shell", "-v", "0", "-c", made).stdout.strip()

    def endpoint(self) -> str:
        """Of webhooks: the demonstration has none, for it would be called."""
        there = self.ask("webhook_endpoints")
        made = there[0] if there else self.ask("webhook_endpoints", {"url": "https://a.example/", "enabled": False})
        return str(made["id"])

    def scenario(self) -> str:
        """A scenario that ends a planned payment; the demonstration has none."""
        there = self.ask("scenarios")
        if not there:
            planned = self.ask("planned_transactions")[0]["id"]
            change = {"kind": "stop", "plannedTransactionId": planned, "from": str(date.today())}
            there = [self.ask("scenarios", {"name": "Lean year", "changes": [change]})]
        return str(there[0]["id"])

    def invoice_import(self) -> str:
        """An import of one open invoice."""
        days = {"today": date.today(), "due": date.today() + timedelta(days=30)}
        script = INVOICE_IMPORT_SCRIPT.format(company=self.company_id, email=self.email, **days)
        return self.machine.run("shell", "-v", "0", "-c", script).stdout.strip()

    def event_import(self) -> str:
        """An import of one subscription event."""
        script = EVENT_IMPORT_SCRIPT.format(company=self.company_id, email=self.email, today=date.today())
        return self.machine.run("shell", "-v", "0", "-c", script).stdout.strip()

    def sandbox(self) -> str:
        """A copy of the company."""
        script = SANDBOX_SCRIPT.format(company=self.company_id, email=self.email)
        return self.machine.run("shell", "-v", "0", "-c", script).stdout.strip()

    def address(self, route: str) -> str:
        """The path of a route, its parameters filled."""
        if route not in self.known:
            self.known[route] = self.fill_in(route)
        return self.known[route]

    def fill_in(self, route: str) -> str:
        if "<uidb64>" in route:
            names = ("uidb64", "token")
            values = dict(
                zip(
                    names, self.machine.run("shell", "-v", "0", "-c", PASSWORD_RESET_SCRIPT).stdout.split(), strict=True
                )
            )
        elif route.startswith("app/invitations"):
            made = self.machine.run(
                "shell", "-v", "0", "-c", INVITATION_SCRIPT.format(company=self.company_id, email=self.email)
            )
            values = dict(zip(("company_id", "member_id", "token"), made.stdout.split(), strict=True))
        elif route.startswith("app/shared/"):
            expires = f"{date.today() + timedelta(days=30)}T00:00:00Z"
            link = self.ask(f"reports/{self.value('month')}/links", {"expiresTime": expires})
            values = {"company_id": self.company_id, "token": link["url"].rpartition("/")[2]}
        elif route.endswith("settings/sandbox/delete"):
            values = {"company_id": self.sandbox()}
        elif table := next((content for part, content in TABLES.items() if part in route), None):
            values = {"company_id": self.company_id, "upload_id": self.upload(table)}
        elif route.startswith("app/sign-up/"):
            values = {"token": self.machine.run("shell", "-v", "0", "-c", SIGN_UP_SCRIPT).stdout.strip()}
        elif route.startswith("app/profile/email/"):
            made = self.machine.run("shell", "-v", "0", "-c", EMAIL_CHANGE_SCRIPT.format(email=self.email))
            values = {"token": made.stdout.strip()}
        else:
            values = {name: self.value(name) for name in PARAMETER.findall(route)}
        return "/" + PARAMETER.sub(lambda found: values[found[1]], route) + self.query(route)

    def list_pages(self, contexts: dict[bool, BrowserContext]) -> list[tuple[str, bool]]:
        """The path of every page, and whether it is one for people who signed in; contexts by the same."""
        addresses = [(self.address(route), not route.startswith(SIGNED_OUT)) for route in ROUTES]
        return [(path, signed_in) for path, signed_in in addresses if self.is_page(contexts[signed_in], path)]

    def is_page(self, context: BrowserContext, path: str) -> bool:
        if path not in self.pages:
            self.pages[path] = is_page(context, path)
        return self.pages[path]

    def query(self, route: str) -> str:
        """What a page needs besides its address."""
        if not route.endswith("plan/payments"):
            return ""
        category = next(each["id"] for each in self.ask("categories") if each["systemKey"] == "hosting")
        return f"?{urlencode({'row': f'{category}:cogs', 'month': str(date.today())[:7]})}"

    def consent(self) -> str:
        """Where an app asks for access."""
        made = self.machine.run(
            "register_app", "--name", "Forecaster", "--redirect-uri", "http://127.0.0.1/callback", "--scopes",
            "svc:read offline_access",
        )  # fmt: skip
        question = {
            "response_type": "code",
            "client_id": json.loads(made.stdout)["client_id"],
            "redirect_uri": "http://127.0.0.1/callback",
            "scope": "svc:read offline_access",
            "state": "s",
            "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
            "code_challenge_method": "S256",
        }
        return f"/auth/oauth2/authorize?{urlencode(question)}"

    def signed_in(self, browser: Browser) -> Any:
        """The cookies of the company's owner."""
        context = browser.new_context(base_url=self.url)
        page = context.new_page()
        page.goto("/app/sign-in")
        page.get_by_label("Email address").fill(self.email)
        page.get_by_label("Password").fill(self.password)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url("**/app/")
        state = context.storage_state()
        context.close()
        return state


def create_demo_company(machine: Machine, size: tuple[str, ...] = DEMO_SIZE) -> Any:
    """Create the demo company; return what the command prints of it."""
    done = machine.run("demo", "--json", *size)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def prepare_demo_directory(folder: Path) -> Path:
    """Return a directory with a demo company; created by the first process that asks for one in this folder."""
    prepared, unfinished = folder / "demo-site", folder / "demo-site.unfinished"
    with (folder / "demo-site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not prepared.exists():
            unfinished.mkdir()
            with create_prepared_machine() as machine:
                (unfinished / "company.json").write_text(json.dumps(create_demo_company(machine)))
                copy_directory(machine.home / "var", unfinished / "var")
            unfinished.rename(prepared)
    return prepared


@contextmanager
def serve_demo_site(machine: Machine, company: Any) -> Iterator[DemoSite]:
    """``up`` with one worker on a machine with a demo company."""
    port = find_free_port()
    machine.settings["SIGN_UP"] = "open"  # otherwise its pages do not exist
    with machine.up(port, "--workers", "1"):
        yield DemoSite(
            machine, f"http://127.0.0.1:{port}", company["companyId"], company["email"], company["password"],
            company["apiKey"],
        )  # fmt: skip


def is_page(context: BrowserContext, path: str) -> bool:
    """Whether a browser is shown something there: no file to download, and no address that only takes a form.

    AssertionError where the address leads nowhere: then FOUND names the wrong ids.
    """
    answer = context.request.get(path, max_redirects=0)
    assert answer.status in {200, 301, 302, 405}, (path, answer.status)
    if "/set-password" in answer.headers.get("location", ""):
        return True  # the mailed address leads on to one without its secret
    return answer.status == 200 and answer.headers["content-type"].startswith("text/html")
