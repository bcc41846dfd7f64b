"""Main navigation: the parts of a company, each with the permissions that show it."""

from collections.abc import Collection
from typing import NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from companies.permissions import Permission


class NavigationItem(NamedTuple):
    """A part of a company.

    `pages` are (URL name, permission) in order of preference; the link leads to the first page the member may see.
    None as the permission shows it to every member. `icon` is an SVG path in a square of 20 units.
    """

    tab: str
    label: str | Promise
    pages: tuple[tuple[str, Permission | None], ...]
    icon: str
    starts_group: bool = False

    def find_page(self, permissions: Collection[Permission]) -> str | None:
        """Return the URL name of the page the member may see, or None."""
        return next((name for name, needed in self.pages if needed is None or needed in permissions), None)


NAVIGATION = (
    NavigationItem("", _("Overview"), (("company", None),), "M3 9.500 10 3.500l7 6M5 8v8.500h10V8"),
    NavigationItem(
        "inbox",
        _("Inbox"),
        (("inbox", Permission.TRANSACTIONS_READ),),
        "M3 11.500 5.500 4h9l2.500 7.500v4.500H3zM3 11.500h4l1 2h4l1-2h4",
    ),
    NavigationItem(
        "transactions",
        _("Transactions"),
        (("transactions", Permission.TRANSACTIONS_READ),),
        "M3.500 7h12.500l-3-3M16.500 13H4l3 3",
    ),
    NavigationItem(
        "accounts",
        _("Accounts"),
        (("accounts", Permission.ACCOUNTS_READ),),
        "M3 7.500 10 3.500l7 4zM5 8v6M10 8v6M15 8v6M3 16.500h14",
    ),
    NavigationItem(
        "planned",
        _("Cash plan"),
        (("planned", Permission.PLANNING_READ),),
        "M3.500 5h13v11.500h-13zM3.500 8.500h13M7 3v3.500M13 3v3.500",
        starts_group=True,
    ),
    NavigationItem(
        "receivables",
        _("Receivables"),
        (("receivables", Permission.PLANNING_READ),),
        "M10 3v9.500M6.500 9l3.500 3.500L13.500 9M3.500 16.500h13",
    ),
    NavigationItem(
        "payables",
        _("Payables"),
        (("payables", Permission.PLANNING_READ),),
        "M10 13V3.500M6.500 7 10 3.500 13.500 7M3.500 16.500h13",
    ),
    NavigationItem(
        "plan", _("Plan"), (("plan", Permission.PLANNING_READ),), "M3.500 4h13v12.500h-13zM3.500 8h13M8 8v8.500"
    ),
    NavigationItem(
        "profit-and-loss",
        _("Profit and loss"),
        (("profit-and-loss", Permission.FINANCIALS_READ),),
        "M3.500 16.500h13M5.500 16v-5M10 16V4.500M14.500 16V8.500",
        starts_group=True,
    ),
    NavigationItem(
        "recurring-revenue",
        _("Recurring revenue"),
        (("recurring-revenue", Permission.SUBSCRIPTIONS_READ), ("products", Permission.PRODUCTS_READ)),
        "M15.500 8.500A6 6 0 0 0 4.500 8M4.500 4v4h4M4.500 11.500a6 6 0 0 0 11 .5M15.500 16v-4h-4",
    ),
    NavigationItem(
        "reports",
        _("Reports"),
        (("reports", Permission.FINANCIALS_READ),),
        "M5 3h7l3.500 3.500V17H5zM12 3v3.500h3.500M7.500 10h5M7.500 13h5",
    ),
    NavigationItem(
        "settings",
        _("Settings"),
        (("company-settings", Permission.COMPANY_READ), ("api-keys", None)),
        "M3 6h7M14.500 6H17M3 14h2.500M10 14h7M12.250 3.750v4.500M7.750 11.750v4.500",
        starts_group=True,
    ),
)
"""In display order. A new part of a company is one item here."""


SETTINGS: tuple[tuple[str, str | Promise, str, Permission | None], ...] = (
    ("company", _("Company"), "company-settings", Permission.COMPANY_READ),
    ("categories", _("Categories"), "categories", Permission.CATEGORIES_READ),
    ("counterparties", _("Counterparties"), "counterparties", Permission.COUNTERPARTIES_READ),
    ("exchange-rates", _("Exchange rates"), "exchange-rates", Permission.BALANCES_READ),
    ("members", _("Members"), "members", Permission.MEMBERS_MANAGE),
    ("developers", _("Developers"), "api-keys", None),
    ("activity", _("Audit log"), "activity", Permission.AUDIT_READ),
    ("access", _("Your permissions"), "own-access", None),
    ("leave", _("Leave"), "leave", None),
)
"""Sections of the settings in display order: section, label, URL name, and permission that shows it."""
DEVELOPER_SECTIONS = ("api-keys", "webhooks")


class NavigationLink(NamedTuple):
    """An item of the navigation as a member sees it."""

    tab: str
    label: str | Promise
    url_name: str
    icon: str
    starts_group: bool


def list_navigation_links(permissions: Collection[Permission]) -> list[NavigationLink]:
    """Return the parts of a company that a member with these permissions may see."""
    return [
        NavigationLink(item.tab, item.label, url_name, item.icon, item.starts_group)
        for item in NAVIGATION
        if (url_name := item.find_page(permissions))
    ]


class SettingsLink(NamedTuple):
    """A section of the settings as a member sees it."""

    label: str | Promise
    url_name: str
    is_current: bool


def list_settings_links(permissions: Collection[Permission], *, current_section: str) -> list[SettingsLink]:
    """Return the sections of the settings that a member with these permissions may see."""
    current = "developers" if current_section in DEVELOPER_SECTIONS else current_section
    return [
        SettingsLink(label, url_name, section == current)
        for section, label, url_name, needed in SETTINGS
        if needed is None or needed in permissions
    ]


def find_part_page(tab: str, permissions: Collection[Permission]) -> str:
    """Return the URL name of a part of a company, or of its overview if the member may not see the part."""
    item = next((item for item in NAVIGATION if item.tab == tab), NAVIGATION[0])
    return item.find_page(permissions) or "company"
