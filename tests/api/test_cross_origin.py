"""Pages of other origins that call the API: those of CORS_ORIGINS may, with bearer tokens, and never with cookies."""

import pytest

pytestmark = pytest.mark.django_db
APP, OTHER = "https://planner.example", "https://evil.example"
ALLOW_ORIGIN_HEADER = "Access-Control-Allow-Origin"
EXPOSED_HEADERS = {
    "Content-Disposition",
    "ETag", "Idempotency-Replayed", "Ignored-Fields", "Link", "Location", "RateLimit-Limit", "RateLimit-Remaining",
    "RateLimit-Reset", "X-Request-Id", "X-Total-Count",
}  # fmt: skip


@pytest.fixture(autouse=True)
def allow_app_origin(settings):
    settings.CORS_ORIGINS = [APP]


def send_preflight(api, origin, path="accounts", method="PUT"):
    headers = {"Origin": origin, "Access-Control-Request-Method": method}
    return api.client.options(api.path(path), headers=headers | {"Access-Control-Request-Headers": "authorization"})


def has_no_cors_headers(answer):
    return not [name for name in answer.headers if name.startswith("Access-Control-")]


def test_cors_allows_listed_origin_with_bearer_token(api):
    answer = api.post("accounts", {"type": "bank", "name": "Main"}, origin=APP)
    assert (answer.status_code, answer[ALLOW_ORIGIN_HEADER]) == (201, APP)
    assert set(answer["Access-Control-Expose-Headers"].split(", ")) >= EXPOSED_HEADERS
    assert "Origin" in answer["Vary"]
    assert "Access-Control-Allow-Credentials" not in answer


def test_cors_headers_are_present_on_error_responses(api):
    for answer in (
        api.get("accounts/nobody", origin=APP),
        api.client.get(api.path("accounts"), headers={"Origin": APP}),
        api.client.get("/companies/x/no/such/thing", headers={"Origin": APP}),
    ):
        assert answer.status_code in (401, 404)
        assert answer[ALLOW_ORIGIN_HEADER] == APP


def test_cors_preflight_needs_no_credential(api):
    answer = send_preflight(api, APP)
    assert (answer.status_code, answer[ALLOW_ORIGIN_HEADER]) == (204, APP)
    assert {"GET", "POST", "PUT", "DELETE"} <= set(answer["Access-Control-Allow-Methods"].split(", "))
    allowed = {name.lower() for name in answer["Access-Control-Allow-Headers"].split(", ")}
    assert {"authorization", "content-type", "idempotency-key", "if-match", "if-none-match"} <= allowed
    assert "Origin" in answer["Vary"]
    assert "Access-Control-Allow-Credentials" not in answer


@pytest.mark.parametrize("origin", [OTHER, "null", "https://planner.example.evil.example", "http://planner.example"])
def test_cors_headers_are_absent_for_unlisted_origins(api, origin):
    answer = api.get("accounts", origin=origin)
    assert answer.status_code == 200
    assert has_no_cors_headers(answer)
    assert "Origin" in answer["Vary"]
    assert has_no_cors_headers(send_preflight(api, origin))


def test_cors_headers_are_absent_for_session_requests(sign_in_browser, alice, acme):
    browser = sign_in_browser(alice, acme)
    answer = browser.get("accounts", origin=APP)
    assert answer.status_code == 200
    assert has_no_cors_headers(answer)


def test_cors_request_with_token_and_cookie_uses_only_the_token(sign_in_browser, alice, acme, make_api):
    browser, key = sign_in_browser(alice, acme), make_api(acme, "accounts:read").key
    answer = browser.get("products", origin=APP, authorization=f"Bearer {key}")
    assert (answer.status_code, answer[ALLOW_ORIGIN_HEADER]) == (403, APP)


def test_cors_headers_are_absent_on_html_pages(sign_in_browser, alice, acme):
    answer = sign_in_browser(alice, acme).get("/app/", origin=APP)
    assert answer.status_code == 200
    assert has_no_cors_headers(answer)


def test_cors_is_off_without_listed_origins(api, settings):
    settings.CORS_ORIGINS = []
    answer = api.get("accounts", origin=APP)
    assert has_no_cors_headers(answer)
    assert "Origin" not in answer["Vary"]
