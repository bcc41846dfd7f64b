"""Two confirmations of one digest at the same moment: exactly one of them does it."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from tests.assistants.conftest import Assistant
from tests.assistants.sample_company import SampleCompany

pytestmark = pytest.mark.django_db(transaction=True)

CALLER_COUNT = 4


@pytest.mark.parametrize("name", ["plan_payment", "categorize", "settle_planned"])
def test_concurrent_confirmations_execute_once(name, api):
    books = SampleCompany(api)
    arguments = books.build_tool_arguments()[name]
    digest = Assistant(api.key).call_tool(name, **arguments)["digest"]
    together = Barrier(CALLER_COUNT)

    def confirm(_):
        try:
            caller = Assistant(api.key)
            together.wait(30)
            return caller.get_result("tools/call", {"name": name, "arguments": arguments | {"confirm": digest}})
        finally:
            connection.close()

    with ThreadPoolExecutor(CALLER_COUNT) as pool:
        answers = list(pool.map(confirm, range(CALLER_COUNT)))
    done = [each["structuredContent"]["done"] for each in answers if not each["isError"]]
    refused = [each["content"][0]["text"] for each in answers if each["isError"]]
    assert done == [True]
    assert len(refused) == CALLER_COUNT - 1
    assert all('"digest_differs"' in each for each in refused)
    before = books.read_state()
    assert Assistant(api.key).get_tool_error(name, **arguments, confirm=digest)["code"] == "digest_differs"
    assert books.read_state() == before
