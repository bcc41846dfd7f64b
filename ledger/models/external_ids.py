"""The names that other systems know a record by; each names one."""

from companies.errors import Conflict


class ExternalIdTaken(Conflict):
    """Another record of this kind has this externalId."""

    code = "external_id_taken"
