"""REST: the exchange rates that a company's figures are converted at."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import ListSerializer

from companies.api.company_viewset import CompanyViewSet
from companies.models import Currency
from companies.permissions import Permission
from ledger.money.current_rates import list_current_rates
from ledger.money.serializers import RateSerializer


class RateViewSet(CompanyViewSet):
    schema_tags = ["Companies"]
    schema_noun = "rate"
    permission_for = {"list": Permission.BALANCES_READ}

    @extend_schema(operation_id="listRates", responses=ListSerializer(child=RateSerializer(), max_length=len(Currency)))
    def list(self, request: Request, company_id: str) -> Response:
        """List the exchange rates at which amounts are converted today.

        There is one row for each foreign currency of accounts, booked and open planned transactions, subscription
        events and the plan. Rates are the European Central Bank's, published on working days. If a rate is older than
        four days, newer ones are missing.
        """
        self.allow_parameters()
        rates = list_current_rates(company=self.company, today=self.today)
        return Response(RateSerializer(rates, many=True).data)
