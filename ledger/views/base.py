"""What the ledger's endpoints add to the ground that all stand on."""

from typing import ClassVar

from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.viewsets import CompanyViewSet
from ledger.dating import PeriodOutOfRange, PeriodTooLong
from ledger.one_writer import one_writer

PERIODS = (PeriodTooLong, PeriodOutOfRange)  # refused wherever parts get their dates


class LedgerViewSet(CompanyViewSet):
    """Endpoints that change the ledger do so one after the other in each company."""

    touches_nothing: ClassVar[frozenset[str]] = frozenset()  # actions that change no transaction and need not wait

    def write(self, request: Request, handler: object) -> Response:
        if self.action not in self.touches_nothing:
            one_writer(self.company)
        return super().write(request, handler)  # type: ignore[arg-type]
