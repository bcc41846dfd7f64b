"""What a sandbox may not do: nothing leaves it. It sends no email and no webhook, and no app connects to it.

A sandbox is a company with the status "sandbox" (``Company.is_sandbox``).
"""

from companies.errors import ConflictError
from companies.models import Company


class NotInSandbox(ConflictError):
    """A sandbox cannot invite members, call webhooks or connect apps. Use the original company instead."""

    code = "not_in_sandbox"


class NotASandbox(ConflictError):
    """Only a sandbox can be deleted or have a testToday."""

    code = "not_a_sandbox"


def refuse_in_sandbox(company: Company) -> None:
    """Raise NotInSandbox for a sandbox."""
    if company.is_sandbox:
        raise NotInSandbox


def require_sandbox(company: Company) -> None:
    """Raise NotASandbox for any other company."""
    if not company.is_sandbox:
        raise NotASandbox
