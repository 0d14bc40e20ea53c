"""What a link to a file opens, under /files/."""

from django.urls import path

from planner.lazy import views_of

view = views_of("planner.finance.file_link_views")

app_name = "files"
urlpatterns = [path("<str:secret>.csv", view("opened"), name="opened")]
