from django.urls import path

from planner.lazy import views_of

view = views_of("planner.history.views")
api = views_of("planner.history.api")

app_name = "history"
urlpatterns = [
    path("", view("history"), name="history"),
    path("export.csv", view("export"), name="export"),
    path("account/", view("account"), name="account"),
]
rest_patterns = [path("audit", api("Audit"), name="audit")]
