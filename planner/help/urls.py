from django.urls import path

from planner.lazy import views_of

view = views_of("planner.help.views")

app_name = "help"
urlpatterns = [
    path("api/", view("rest"), name="rest"),
    path("money/", view("money"), name="money"),
]
