"""A user who signs in, chooses a company, allows an app and disconnects it."""

import re
from typing import Any

import requests


class OAuthUser:
    """A headless browser of a user who signs in and allows apps."""

    def __init__(self, site: str, *, email: str, password: str, company_id: object):
        self.site, self.email, self.password, self.company_id = site, email, password, str(company_id)
        self.session = requests.Session()

    def submit_form(self, page: Any, **values: str) -> Any:
        """Submit the first form of a page with its hidden fields."""
        fields = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page.text))
        action = re.search(r'<form method="post" action="([^"]+)"', page.text)[1].replace("&amp;", "&")
        fields = {name: value.replace("&amp;", "&") for name, value in fields.items()}
        return self.session.post(self.site + action, fields | values, allow_redirects=False)

    def allow_app(self, url: str) -> str:
        """Open an app's authorization request, sign in and allow it; return the callback URL."""
        response = self.session.get(url)
        assert response.status_code == 200, response.text
        if "/app/sign-in" in response.url:
            response = self.submit_form(response, username=self.email, password=self.password)
            assert response.status_code == 303, response.text
            response = self.session.get(self.site + response.headers["Location"])
        response = self.submit_form(response, company=self.company_id, decision="allow")
        assert response.status_code == 303, response.text
        return response.headers["Location"]

    def disconnect(self) -> None:
        """Disconnect the app in Settings."""
        page = self.session.get(f"{self.site}/app/companies/{self.company_id}/settings/api-keys")
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)[1]
        path = re.search(r'action="(/app/companies/[^"]+/disconnect)"', page.text)[1]
        response = self.session.post(self.site + path, {"csrfmiddlewaretoken": token}, allow_redirects=False)
        assert response.status_code == 303
