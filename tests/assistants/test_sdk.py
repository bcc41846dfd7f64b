"""The official client, over HTTP to a running server: with a key, and with the token of an app."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from oauth.registration import register_app
from tests.assistants.sample_company import SampleCompany
from tests.oauth.conftest import PASSWORD, REDIRECT, OAuthFlow

pytestmark = [pytest.mark.server, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def allow_test_client_host(site, settings):
    """Allow the host name of Django's test client on the live server."""
    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "testserver"]


async def run_session(site, token, books, mode):
    """What an assistant does: looks around, tries, confirms."""
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as http,
        Client(streamable_http_client(f"{site}/mcp", http_client=http), mode=mode) as client,
    ):
        tools = (await client.list_tools()).tools
        companies = await client.call_tool("list_companies", {})
        arguments = books.build_tool_arguments()["plan_payment"]
        tried = await client.call_tool("plan_payment", arguments)
        digest = tried.structured_content["digest"]
        done = await client.call_tool("plan_payment", arguments | {"confirm": digest})
        again = await client.call_tool("plan_payment", arguments | {"confirm": digest})
        return tools, companies, done, again


def run_in_thread(*arguments):
    with ThreadPoolExecutor(1) as own:  # a thread without a loop: tests in a browser leave theirs running here
        return own.submit(asyncio.run, run_session(*arguments)).result()


def check_results(tools, companies, done, again):
    assert len(tools) == 16
    assert [row["name"] for row in companies.structured_content["items"]] == ["Acme"]
    assert done.structured_content["done"] is True
    assert again.is_error


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy", "auto"])
def test_sdk_client_works_with_api_key(site, api, mode):
    check_results(*run_in_thread(site, api.key, SampleCompany(api), mode))


def test_sdk_client_works_with_oauth_token(site, alice, acme, api):
    alice.set_password(PASSWORD)
    alice.save()
    flow = OAuthFlow(
        register_app(name="Assistant", redirect_uris=[REDIRECT], allowed=[], confidential=False).application
    )
    flow.sign_in(alice)
    check_results(*run_in_thread(site, flow.tokens(acme)["access_token"], SampleCompany(api), "auto"))
