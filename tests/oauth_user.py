"""A user in a browser without a screen who signs in, chooses a company, allows an app and disconnects it."""

import re
from typing import Any

import requests


class OAuthUser:
    """A headless browser of a user who signs in and allows apps."""

    def __init__(self, site: str, *, email: str, password: str, company_id: object):
        self.site, self.email, self.password, self.company_id = site, email, password, str(company_id)
        self.session = requests.Session()

    def form(self, page: Any, **values: str) -> Any:
        fields = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page.text))
        action = re.search(r'<form method="post" action="([^"]+)"', page.text)[1].replace("&amp;", "&")
        fields = {name: value.replace("&amp;", "&") for name, value in fields.items()}
        return self.session.post(self.site + action, fields | values, allow_redirects=False)

    def visit(self, url: str) -> str:
        """Open an app's authorization request, sign in and allow it; return the callback URL."""
        answer = self.session.get(url)
        assert answer.status_code == 200, answer.text
        if "/app/sign-in" in answer.url:
            answer = self.form(answer, username=self.email, password=self.password)
            assert answer.status_code == 303, answer.text
            answer = self.session.get(self.site + answer.headers["Location"])
        answer = self.form(answer, company=self.company_id, decision="allow")
        assert answer.status_code == 303, answer.text
        return answer.headers["Location"]

    def disconnect(self) -> None:
        """In Settings."""
        page = self.session.get(f"{self.site}/app/companies/{self.company_id}/settings/api-keys")
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)[1]
        path = re.search(r'action="(/app/companies/[^"]+/disconnect)"', page.text)[1]
        answer = self.session.post(self.site + path, {"csrfmiddlewaretoken": token}, allow_redirects=False)
        assert answer.status_code == 303
