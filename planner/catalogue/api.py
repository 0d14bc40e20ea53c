"""REST v1 of the catalogue."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
