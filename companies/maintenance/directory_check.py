"""Checks and repairs the directory against members, API keys and sandboxes."""

from uuid import UUID

from companies.models import ApiKey, Company, DirectoryEntry, Membership


def rebuild_directory(company_id: UUID) -> None:
    """Delete directory entries of users and keys that are gone; the database guarantees that none is missing."""
    for subject in list_directory_subjects(company_id) - list_expected_subjects(company_id):
        DirectoryEntry.objects.filter(subject=subject, company_id=company_id).delete()


def find_directory_differences(company_id: UUID) -> list[str]:
    """Return the differences between the directory and the company's members, keys and original; empty without any."""
    entries, rows = list_directory_subjects(company_id), list_expected_subjects(company_id)
    too_much = [f"companies_directoryentry: too much {subject}" for subject in sorted(entries - rows)]
    return too_much + [f"companies_directoryentry: missing {subject}" for subject in sorted(rows - entries)]


def list_directory_subjects(company_id: UUID) -> set[UUID]:
    """Return the subjects in the directory."""
    return set(DirectoryEntry.objects.filter(company_id=company_id).values_list("subject", flat=True))


def list_expected_subjects(company_id: UUID) -> set[UUID]:
    """Return the ids of the company's members and keys, and of the company it is a copy of."""
    people = Membership.objects.for_company(company_id).active().values_list("user_id", flat=True)
    original_ids = filter(None, Company.objects.filter(id=company_id).values_list("copied_company_id", flat=True))
    return {*people, *original_ids, *ApiKey.objects.for_company(company_id).values_list("id", flat=True)}
