"""REST v1 of the workloads."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
