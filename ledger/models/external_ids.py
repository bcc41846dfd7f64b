"""The conflict of two records with one external id."""

from companies.errors import ConflictError


class ExternalIdTaken(ConflictError):
    """Another record of this type already has this external ID."""

    code = "external_id_taken"
