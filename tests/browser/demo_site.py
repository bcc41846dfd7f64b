"""Every page below /app, from the URL configuration, on a running server with a demo company.

New pages are included automatically; a new kind of id in a URL needs an entry in ``LIST_OF_PARAMETER``.
"""

import json
import re
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cached_property
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
FORMS = (
    "consent_id",
    "run_id",
    "entry_id",
    "delivery_id",
    "view_id",
    "passkey_id",
    "link_id",
)  # stand in addresses of forms only
GIVEN_VALUES = {"chart": "mrr", "name": "transactions.csv", "kind": "hire", "position": "0"} | dict.fromkeys(
    FORMS, UNKNOWN_ID
)
OBJECTS_SCRIPT = """
import json
from tests.browser.demo_objects import create_demo_objects
print(json.dumps(create_demo_objects("{company}", "{email}")))
"""
UPLOADS = {  # part of a route -> the file whose review it is
    "ables/import/": "invoices",
    "/plan/import/": "plan",
    "recurring-revenue/events/import/": "events",
}


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
        if parameter in ("upload_id", "invoice_import_id", "event_import_id"):
            return str(self.objects[{"upload_id": "statement"}.get(parameter, parameter.removesuffix("_id"))])
        if parameter == "day":
            window = f"startDate={date.today()}&endDate={date.today() + timedelta(days=400)}"
            rule = self.ask("planned_transactions")[0]["id"]
            return self.ask(f"planned_transactions/{rule}/occurrences?{window}")[0]["originalDate"]
        if parameter in (
            makers := {
                "month": self.closed_month,
                "endpoint_id": self.endpoint,
                "scenario_id": self.scenario,
            }
        ):
            return makers[parameter]()
        if parameter == "customer_id":
            return str(self.ask("subscriptions")[0]["customerId"])
        if parameter not in LIST_OF_PARAMETER:
            raise LookupError(f"Say in tests/browser/demo_site.py which list of the API has a {parameter}.")
        return self.ask(LIST_OF_PARAMETER[parameter])[0]["id"]

    @cached_property
    def objects(self) -> dict[str, Any]:
        """What was created beside the demo company, by one command for all."""
        script = OBJECTS_SCRIPT.format(company=self.company_id, email=self.email)
        done = self.machine.run("shell", "-v", "0", "-c", script)
        assert done.returncode == 0, done.stderr
        return dict(json.loads(done.stdout))

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

    def address(self, route: str) -> str:
        """The path of a route, its parameters filled."""
        if route not in self.known:
            self.known[route] = self.fill_in(route)
        return self.known[route]

    def fill_in(self, route: str) -> str:
        if "<uidb64>" in route:
            values = dict(zip(("uidb64", "token"), self.objects["password_reset"], strict=True))
        elif route.startswith("app/invitations"):
            values = dict(zip(("company_id", "member_id", "token"), self.objects["invitation"], strict=True))
        elif route.startswith("app/shared/"):
            expires = f"{date.today() + timedelta(days=30)}T00:00:00Z"
            link = self.ask(f"reports/{self.value('month')}/links", {"expiresTime": expires})
            values = {"company_id": self.company_id, "token": link["url"].rpartition("/")[2]}
        elif route.endswith("settings/sandbox/delete"):
            values = {"company_id": self.objects["sandbox"]}
        elif upload := next((name for part, name in UPLOADS.items() if part in route), None):
            values = {"company_id": self.company_id, "upload_id": self.objects[upload]}
        elif route.startswith("app/sign-up/"):
            values = {"token": self.objects["sign_up"]}
        elif route.startswith("app/profile/email/"):
            values = {"token": self.objects["email_change"]}
        else:
            values = {name: self.value(name) for name in PARAMETER.findall(route)}
        return "/" + PARAMETER.sub(lambda found: values[found[1]], route) + self.query(route)

    def query(self, route: str) -> str:
        """What a page needs besides its address."""
        if not route.endswith("plan/payments"):
            return ""
        category = next(each["id"] for each in self.ask("categories") if each["systemKey"] == "hosting")
        return f"?{urlencode({'row': f'{category}:cogs', 'month': str(date.today())[:7]})}"

    def consent(self) -> str:
        """Where an app asks for access."""
        question = {
            "response_type": "code",
            "client_id": self.objects["client_id"],
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


def fill_demo_directory(folder: Path) -> None:
    """Store the data of a machine with a demo company, and how to get into that."""
    with create_prepared_machine() as machine:
        (folder / "company.json").write_text(json.dumps(create_demo_company(machine)))
        copy_directory(machine.home / "var", folder / "var")


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
