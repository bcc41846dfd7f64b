"""The directory, rebuilt or proved from the members and keys that stand in it."""

from uuid import UUID

from companies.models import ApiKey, DirectoryEntry, Membership


def rebuild(company_id: UUID) -> None:
    """Takes out who left; that nobody is missing the database sees to."""
    for subject in listed(company_id) - found(company_id):
        DirectoryEntry.objects.filter(subject=subject, company_id=company_id).delete()


def differences(company_id: UUID) -> list[str]:
    """Whom the directory knows and the company does not, and the other way round; empty when all is exact."""
    entries, rows = listed(company_id), found(company_id)
    too_much = [f"companies_directoryentry: too much {subject}" for subject in sorted(entries - rows)]
    return too_much + [f"companies_directoryentry: missing {subject}" for subject in sorted(rows - entries)]


def listed(company_id: UUID) -> set[UUID]:
    return set(DirectoryEntry.objects.filter(company_id=company_id).values_list("subject", flat=True))


def found(company_id: UUID) -> set[UUID]:
    people = Membership.objects.of(company_id).active().values_list("user_id", flat=True)
    return {*people, *ApiKey.objects.of(company_id).values_list("id", flat=True)}
