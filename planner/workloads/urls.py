from django.urls import URLPattern

app_name = "workloads"
urlpatterns: list[URLPattern] = []
