from django.urls import path

from planner.lazy import views_of

view = views_of("planner.finance.views")
rest = views_of("planner.finance.api")

app_name = "finance"
urlpatterns = [
    path("<int:study_id>/finance/", view("finance"), name="finance"),
    path("<int:study_id>/finance/assumptions", view("save"), name="save"),
    path("<int:study_id>/finance/<slug:name>.<slug:kind>", view("export"), name="export"),
]
rest_patterns = [
    path("<int:study_id>/finance/costs", rest("AllCosts"), name="costs"),
    path("<int:study_id>/finance/<slug:name>", rest("CostRows"), name="cost_rows"),
]
"""Under /api/v1/studies/."""
