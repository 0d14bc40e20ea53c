from django.urls import path

from planner.lazy import views_of

view = views_of("planner.scenarios.views")

app_name = "scenarios"
urlpatterns = [
    path("", view("question"), name="question"),
    path("preview", view("preview"), name="preview"),
]
