"""The service with two more addresses to compare with: a constant view, and transactions by a plain ModelSerializer.

Served through gunicorn in the process, and the threads, that serve ours (``bench_server.serve_page_app``).
"""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# ruff: noqa: E402 - models and serializers can be imported once Django is set up

from django.conf import settings
from django.core.wsgi import get_wsgi_application

application = get_wsgi_application()
settings.ROOT_URLCONF = __name__

from django.http import HttpResponse
from django.urls import include, path
from rest_framework import serializers
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response

from companies.api.company_viewset import CompanyViewSet
from companies.permissions import Permission
from ledger.models import Categorization, Transaction


class PlainPart(serializers.ModelSerializer):
    class Meta:
        model = Categorization
        exclude = ("company",)


class PlainTransaction(serializers.ModelSerializer):
    parts = PlainPart(many=True)

    class Meta:
        model = Transaction
        fields = "__all__"


class PlainPage(CompanyViewSet):
    """On the same ground as ours; two queries, the framework's own serializers and renderer."""

    permission_for = {"list": Permission.TRANSACTIONS_READ}
    renderer_classes = (JSONRenderer,)

    def list(self, request, company_id):
        limit = int(request.GET.get("limit", "100"))
        rows = list(Transaction.objects.for_company(self.company.id).order_by("-date", "-id")[:limit])
        by_transaction = {}
        parts = Categorization.objects.for_company(self.company.id).filter(transaction_id__in=[row.id for row in rows])
        for part in parts:
            by_transaction.setdefault(part.transaction_id, []).append(part)
        for row in rows:
            row.parts = by_transaction.get(row.id, [])
        return Response(PlainTransaction(rows, many=True).data)


def answer_constant(request):
    return HttpResponse(b'{"a":1}', content_type="application/json")


urlpatterns = [
    path("constant", answer_constant),
    path("plain/<str:company_id>", PlainPage.as_view({"get": "list"})),
    path("", include("config.urls")),
]
