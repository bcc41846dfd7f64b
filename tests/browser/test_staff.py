"""The staff's pages of apps: nothing in them keeps anybody out, in light and dark."""

from base64 import b32decode
from uuid import uuid4

import pytest

from tests.browser.axe import list_violations, set_color_scheme
from tests.companies.auth.mfa.test_mfa import generate_code

pytestmark = [pytest.mark.browser, pytest.mark.server]
STAFF = """
from companies.models import User
User.objects.create_superuser("{email}", "correct horse battery")
from django.contrib.auth.models import Group
Group.objects.get_or_create(name="Support")
"""


@pytest.fixture(scope="module")
def page(browser, served):
    """The page of somebody of the staff who has just set up an authenticator app."""
    context = browser.new_context(base_url=served.url, reduced_motion="reduce")
    page = context.new_page()
    email = f"{uuid4()}@example.com"
    served.machine.run("shell", "-v", "0", "-c", STAFF.format(email=email))
    page.goto("/admin/")
    page.get_by_label("Email address").fill(email)
    page.get_by_label("Password").fill("correct horse battery")
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("link", name="Add authenticator app").click()  # staff are led to it before anything else
    check_accessibility(page)
    seed = page.locator("[data-seed]").inner_text().replace("-", "").upper()
    page.get_by_role("textbox", name="Code").fill(generate_code(b32decode(seed).hex()))
    page.get_by_role("button", name="Set up").click()
    page.get_by_role("link", name="Done").click()
    page.wait_for_load_state()
    yield page
    context.close()


def check_accessibility(page):
    """In light and dark; in the dark other colours stand in the same places, so that only they are judged."""
    page.wait_for_load_state()  # what is half here has no heading yet
    set_color_scheme(page, "dark")
    complaints = list_violations(page, "color-contrast")
    set_color_scheme(page, "light")
    assert complaints + list_violations(page) == []


def test_admin_app_registration_and_preview_are_accessible(page, served):
    page.goto("/admin/oauth/application/add/")
    check_accessibility(page)
    page.locator("#id_name").fill("Forecaster")
    page.locator("#id_client_type").select_option("confidential")
    page.locator("#id_redirect_uris").fill("http://127.0.0.1:7/callback")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("button", name="Copy").wait_for()
    check_accessibility(page)
    page.get_by_role("link", name="Back to app").click()
    page.wait_for_url("**/change/**")
    check_accessibility(page)
    page.get_by_role("link", name="View consent page").click()
    page.wait_for_url("**/preview/")
    check_accessibility(page)


def test_admin_search_finds_a_user_and_its_pages_are_accessible(page):
    page.goto("/admin/companies/user/?q=demo@")
    check_accessibility(page)
    page.get_by_role("link", name="demo@example.com").click()
    page.wait_for_url("**/change/**")
    check_accessibility(page)


def test_admin_lists_forms_and_rows_are_accessible(page):
    """The index, whatever it leads to, and the first row of each list."""
    page.goto("/admin/")
    check_accessibility(page)
    link_addresses = list_link_addresses(page, "#content-main a, #user-tools a[href]")
    assert len(link_addresses) > 10
    for path in link_addresses:
        page.goto(path)
        check_accessibility(page)
        for row in list_link_addresses(page, "#result_list tbody tr:first-child th a")[:1]:
            page.goto(row)
            check_accessibility(page)


def list_link_addresses(page, choice):
    """Where links lead, each once; a way out of the admin is none of its pages."""
    paths = page.locator(choice).evaluate_all("(links) => links.map((link) => link.pathname)")
    return [path for path in dict.fromkeys(paths) if path.startswith("/admin/")]
