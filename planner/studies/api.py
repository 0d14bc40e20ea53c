"""REST v1 of the studies."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
