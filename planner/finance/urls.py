from django.urls import path

from planner.lazy import views_of

view = views_of("planner.finance.views")
centre_view = views_of("planner.finance.centre_views")
rest = views_of("planner.finance.api")

app_name = "finance"
urlpatterns = [
    path("<int:study_id>/finance/", view("finance"), name="finance"),
    path("<int:study_id>/finance/assumptions", view("save"), name="save"),
    path("<int:study_id>/finance/cost-centres/", centre_view("cost_centres"), name="cost_centres"),
    path("<int:study_id>/finance/<slug:name>.<slug:kind>", view("export"), name="export"),
]
rest_patterns = [
    path("<int:study_id>/finance/costs", rest("AllCosts"), name="costs"),
    path("<int:study_id>/finance/<slug:name>", rest("CostRows"), name="cost_rows"),
]
"""Under /api/v1/studies/."""
