"""The conflict of two records with one external id."""

from companies.errors import ConflictError


class ExternalIdTaken(ConflictError):
    """Another record of this kind has this externalId."""

    code = "external_id_taken"
