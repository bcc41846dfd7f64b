"""What staff can do, and what nobody can see."""

import io
import re
from html import unescape

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.admin.sites import site
from django.contrib.messages import get_messages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from PIL import Image

from companies.actions.companies import IllegalStatusMove
from companies.models import AuditEntry, Company
from oauth.models import Application, ClientHost
from oauth.registration import compute_secret_digest
from tests.oauth.conftest import get_csrf_token, parse_redirect
from tests.rollback import undo_changes

pytestmark = pytest.mark.django_db
ADD = "/admin/oauth/application/add/"


def build_inline_form(name="consents"):
    return {f"{name}-TOTAL_FORMS": "0", f"{name}-INITIAL_FORMS": "0"}


def build_app_form(**changes):
    return {
        "name": "New app",
        "client_type": "public",
        "redirect_uris": "https://new.example/cb",
        "allowed_scopes": ["svc:read"],
        "enabled": "on",
    } | changes


def build_png():
    out = io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(out, format="PNG")
    return SimpleUploadedFile("logo.png", out.getvalue(), content_type="image/png")


def test_public_app_can_be_registered_and_is_logged(staff):
    answer = staff.post(ADD, build_app_form(), follow=True)
    application = Application.objects.get()
    assert application.client_id in answer.content.decode()
    assert application.allowed_scopes == ["svc:read"]
    assert application.client_secret == ""
    assert LogEntry.objects.get().object_id == str(application.pk)


def test_new_app_form_offers_no_secret_renewal(staff):
    assert "new_secret" not in staff.get(ADD).content.decode()
    staff.post(ADD, build_app_form())
    stored = f"/admin/oauth/application/{Application.objects.get().pk}/change/"
    assert "new_secret" in staff.get(stored).content.decode()


def test_confidential_app_secret_is_shown_once(staff):
    answer = staff.post(ADD, build_app_form(client_type="confidential"))
    assert "no-store" in answer["Cache-Control"]
    secret = re.search(r'id="client-secret">([\w-]+)<', answer.content.decode())[1]
    application = Application.objects.get()
    assert application.client_secret == compute_secret_digest(secret)
    page = staff.get(f"/admin/oauth/application/{application.pk}/change/").content.decode()
    assert secret not in page
    assert application.client_secret not in page
    renewed = staff.post(
        f"/admin/oauth/application/{application.pk}/change/",
        build_app_form(client_type="confidential", new_secret="on") | build_inline_form(),
    )
    fresh = re.search(r'id="client-secret">([\w-]+)<', renewed.content.decode())[1]
    assert fresh != secret
    assert Application.objects.get().client_secret == compute_secret_digest(fresh)


def test_unsafe_redirect_uri_is_rejected(staff):
    for uris in [
        "",
        "http://app.example/cb",
        "http://localhost/cb",
        "https://app.example/cb#f",
        "https://*.example/cb",
        "https://me@app.example/cb",
        "javascript:alert(1)",
        "data:text/html,x",
        "https:///cb",
        "/cb",
        "https://app.example/a b",
        "https://app.example/cb\nhttp://app.example/cb",
        "https://app.example:port/cb",
        "https://app.example,other.example/cb",
        "https://app.example;other.example/cb",
        "https://app.example:0/cb",
        "http://127.0.0.1:0/cb",
        "http://[::1]:0/cb",
        "https://app.example:/cb",
        "https://app.example'/cb",
        "https://app.example&other/cb",
        "https://%2c.example/cb",
    ]:
        answer = staff.post(ADD, build_app_form(redirect_uris=uris))
        assert answer.status_code == 200, uris
        assert not Application.objects.exists(), uris


def test_safe_redirect_uri_is_accepted(staff):
    for uris in [
        "https://app.example/cb",
        "http://127.0.0.1/cb",
        "http://[::1]:80/cb",
        "com.example.app:/cb",
        "cursor://cb/x",
    ]:
        with undo_changes():
            staff.post(ADD, build_app_form(redirect_uris=uris))
            assert Application.objects.get().uris == [uris]


def test_app_logo_is_reencoded_and_served_from_own_host(staff, client):
    staff.post(ADD, build_app_form(logo=build_png()))
    application = Application.objects.get()
    assert client.get(f"/assets/{application.logo_path}")["Content-Type"] == "image/png"
    broken = SimpleUploadedFile("logo.png", b"<svg onload=alert(1)>", content_type="image/png")
    url = f"/admin/oauth/application/{application.pk}/change/"
    assert (
        "The image is not a valid PNG."
        in staff.post(url, build_app_form(logo=broken) | build_inline_form()).content.decode()
    )


def test_disabling_app_with_checkbox_ends_its_tokens(staff, alice_flow, alice_tokens):
    url = f"/admin/oauth/application/{alice_flow.application.pk}/change/"
    changed = build_app_form(name="Forecaster", redirect_uris="https://app.example/callback") | build_inline_form()
    del changed["enabled"]
    assert staff.post(url, changed).status_code == 303
    assert alice_flow.call(alice_tokens["access_token"]).status_code == 401
    assert "Enabled" in LogEntry.objects.get().change_message or "enabled" in LogEntry.objects.get().change_message


def test_every_admin_page_opens_and_shows_no_secret(staff, alice_flow, alice_tokens, api, acme):
    digest = alice_flow.application.client_secret
    for model in site._registry:
        for page in ("changelist", "add"):
            url = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}")
            assert staff.get(url).status_code in (200, 403), url
        row = model._default_manager.first()
        if row is not None:
            url = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_change", args=[row.pk])
            text = staff.get(url).content.decode()
            assert api.key[-36:] not in text
            assert not digest or digest not in text


def test_toolkit_tables_are_not_in_admin():
    names = {model._meta.label for model in site._registry}
    assert not {n for n in names if "Token" in n or "Code" in n or n.startswith("oauth2_provider")}


@pytest.mark.parametrize(("to", "moves"), [("free", True), ("paid", True), ("sandbox", False), ("cancelled", False)])
def test_company_status_changes_only_along_allowed_transitions(to, moves, staff, acme):
    url = f"/admin/companies/company/{acme.pk}/change/"
    rows = {}
    for number in range(1, 9):  # they have no name that leads back
        rows |= build_inline_form(f"-{number}")
    answer = staff.post(url, {"system_status": to, "system_trial_until_0": "", "system_trial_until_1": ""} | rows)
    assert answer.status_code == 303, answer.content[:3000]
    answers = [str(message) for message in get_messages(answer.wsgi_request)]
    assert (IllegalStatusMove().detail in answers) is not moves, answers
    assert Company.objects.get(pk=acme.pk).system_status == (to if moves else "trial")
    logged = AuditEntry.objects.for_company(acme.id).filter(action="company.updated", after__system_status=to)
    assert logged.exists() is moves


def test_company_is_found_by_member_email(staff, alice, acme, globex):
    page = staff.get("/admin/companies/company/", {"q": "alice@acme"}).content.decode()
    assert "Acme" in page
    assert "Globex" not in page


def test_admin_requires_staff_user(sign_in_browser, alice, acme):
    assert sign_in_browser(alice, acme).client.get("/admin/").status_code == 302
    assert Client().get("/admin/").status_code == 302


@pytest.mark.parametrize("tail", ["1/1/", "x/y/", "1/x"])
def test_admin_has_no_object_redirect_pages(tail, staff, client):
    """No model of ours has one to lead to."""
    for visitor in (staff, client):
        answer = visitor.get(f"/admin/r/{tail}")
        assert answer.status_code == 404
        assert "Page not found" in answer.content.decode()


def test_admin_uses_the_application_sign_in_page(client, staff):
    """Where passwords are tried, wrong ones are counted: there is one such page."""
    for answer in (client.get("/admin/login/"), client.post("/admin/login/", {"username": "a", "password": "b"})):
        assert answer["Location"] == "/app/sign-in?next=%2Fadmin%2F"
    assert staff.get("/admin/login/")["Location"] == "/admin/"


def test_audit_log_is_shown_for_one_company_at_a_time(staff, acme, globex):
    url = "/admin/companies/auditentry/"
    assert "0 audit entries" in staff.get(url).content.decode()
    assert "company.created" in staff.get(url, {"q": str(acme.id)}).content.decode()
    assert "0 audit entries" in staff.get(url, {"q": "x"}).content.decode()
    page = staff.get(f"/admin/companies/company/{acme.pk}/change/").content.decode()
    assert f"{url}?q={acme.id}" in page


def test_company_admin_page_shows_accounts(staff, api, acme):
    api.post("accounts", {"name": "Main account", "type": "bank"})
    assert "Main account" in staff.get(f"/admin/companies/company/{acme.pk}/change/").content.decode()


def test_new_app_page_shows_only_the_stored_client_id(staff):
    assert "client_id" not in re.sub(r"<style.*?</style>", "", staff.get(ADD).content.decode().lower())
    page = staff.post(ADD, build_app_form(), follow=True).content.decode()
    application = Application.objects.get()
    assert page.count(application.client_id) >= 2
    assert set(re.findall(r"client_id=([\w-]+)", page)) == {application.client_id}


def test_authorize_link_of_app_works(staff, flow, alice, acme):
    page = staff.get(f"/admin/oauth/application/{flow.application.pk}/change/").content.decode()
    link = unescape(re.search(r'href="(http://127[^"]*authorize[^"]*)"', page)[1]).removeprefix("http://127.0.0.1:8000")
    verifier = re.search(r"code_verifier <code>([\w-]+)<", page)[1]
    flow.sign_in(alice)
    shown = flow.browser.get(link)
    assert shown.status_code == 200
    answer = flow.browser.post(
        link, {"company": str(acme.id), "decision": "allow", "csrfmiddlewaretoken": get_csrf_token(shown)}
    )
    assert flow.redeem(parse_redirect(answer)["code"], code_verifier=verifier).status_code == 200


def test_consent_page_preview_has_no_submit_button(staff, flow, client):
    url = f"/admin/oauth/application/{flow.application.pk}/preview/"
    text = staff.get(url).content.decode()
    assert "Forecaster" in text
    assert "keep access" in text
    assert 'type="submit"' not in text.split("data-consent")[0].partition("<form")[2].partition("</form>")[0]
    assert client.get(url).status_code == 302
    assert staff.get("/admin/oauth/application/999/preview/").status_code == 404


def test_app_list_shows_consent_count_and_last_use(staff, alice_flow, alice_tokens):
    def row():
        text = staff.get("/admin/oauth/application/").content.decode()
        cells = r'class="field-(?:consent_count|last_used)[^>]*>(.*?)</td>'
        return [re.sub(r"<[^>]+>", "", each) for each in re.findall(cells, text)]

    assert row() == ["1", "-"]
    alice_flow.call(alice_tokens["access_token"])
    assert row()[1] != "-"
    page = staff.get(f"/admin/oauth/application/{alice_flow.application.pk}/change/").content.decode()
    assert "rejects the tokens of 1 active consent" in page


def test_only_valid_client_hosts_can_be_allowed(staff):
    add = "/admin/oauth/clienthost/add/"
    for wrong in ("", "https://apps.example", "apps example", "localhost", "127.0.0.1", "*"):
        assert staff.post(add, {"host": wrong}).status_code == 200
    assert staff.post(add, {"host": ".apps.example"}).status_code == 303
    assert ClientHost.objects.get().host == ".apps.example"
