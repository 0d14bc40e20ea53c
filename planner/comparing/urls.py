from django.urls import path

from planner.lazy import views_of

view = views_of("planner.comparing.views")
rest = views_of("planner.comparing.api")

app_name = "comparing"
urlpatterns = [
    path("", view("compare"), name="compare"),
    path("halfway", view("halfway"), name="halfway"),
    path("waiting", view("waiting"), name="waiting"),
]
rest_patterns = [
    path("compare", rest("Compare"), name="compare"),
    path("studies/<int:study_id>/compare", rest("StudyCompare"), name="study_compare"),
]
"""Under /api/v1/."""
