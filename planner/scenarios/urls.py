from django.urls import path

from planner.scenarios import views

app_name = "scenarios"
urlpatterns = [
    path("", views.question, name="question"),
    path("preview", views.preview, name="preview"),
]
