"""REST v1 of the scenarios."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
