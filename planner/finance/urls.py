from django.urls import path

from planner.lazy import views_of

view = views_of("planner.finance.views")

app_name = "finance"
urlpatterns = [
    path("<int:study_id>/finance/", view("finance"), name="finance"),
    path("<int:study_id>/finance/assumptions", view("save"), name="save"),
    path("<int:study_id>/finance/<slug:name>.<slug:kind>", view("export"), name="export"),
]
