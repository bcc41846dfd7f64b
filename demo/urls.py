"""URLs of the demo company."""

from django.urls import path

from demo import pages

urlpatterns = [
    path("app/companies/<str:company_id>/settings/reset", pages.reset_demo_page, name="demonstration-reset"),
]
