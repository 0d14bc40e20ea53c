from django.urls import path

from planner.lazy import views_of

view = views_of("planner.sharing.views")

app_name = "sharing"
urlpatterns = [
    path("<str:token>/clone", view("clone"), name="clone"),
]
