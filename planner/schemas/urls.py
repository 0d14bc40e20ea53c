from django.urls import path

from planner.lazy import views_of

view = views_of("planner.schemas.views")

app_name = "schemas"
urlpatterns = [path("<slug:name>.json", view("schema"), name="schema")]
