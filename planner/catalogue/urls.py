from django.urls import path

from planner.lazy import views_of

view = views_of("planner.catalogue.views")
edit = views_of("planner.catalogue.edit_views")
file = views_of("planner.catalogue.import_views")
quote = views_of("planner.catalogue.quote_views")
rest = views_of("planner.catalogue.api")

app_name = "catalogue"
urlpatterns = [
    path("", view("index"), name="index"),
    path("models/new", view("new_model"), name="new_model"),
    path("imports/<int:pk>", file("review"), name="review"),
    path("prices/", view("prices"), name="prices"),
    path("prices/add", edit("add_book"), name="add_book"),
    path("<str:table>/import", file("upload"), name="import"),
    path("<str:table>/export.csv", file("export"), name="export"),
    path("prices/<str:book_id>", view("price_book"), name="price_book"),
    path("prices/<str:book_id>/edit", edit("edit_book"), name="edit_book"),
    path("prices/<str:book_id>/restore", edit("restore_book"), name="restore_book"),
    path("prices/<str:book_id>/delete", edit("delete_book"), name="delete_book"),
    path("prices/<str:book_id>/quotes/add", quote("add_quote"), name="add_quote"),
    path("prices/<str:book_id>/quotes/<slug:key>", quote("edit_quote"), name="edit_quote"),
    path("prices/<str:book_id>/quotes/<slug:key>/delete", quote("delete_quote"), name="delete_quote"),
    path("prices/<str:book_id>/rates/add", quote("add_rate"), name="add_rate"),
    path("prices/<str:book_id>/rates/<slug:currency>", quote("edit_rate"), name="edit_rate"),
    path("prices/<str:book_id>/rates/<slug:currency>/delete", quote("delete_rate"), name="delete_rate"),
    path("<str:table>/", view("table"), name="table"),
    path("<str:table>/add", edit("add"), name="add"),
    path("<str:table>/<str:row_id>", view("row"), name="row"),
    path("<str:table>/<str:row_id>/edit", edit("edit"), name="edit"),
    path("<str:table>/<str:row_id>/restore", edit("restore"), name="restore"),
    path("<str:table>/<str:row_id>/delete", edit("delete"), name="delete"),
]
rest_patterns = [
    path("price-books/", rest("PriceBooks"), name="price-books"),
    path("price-books/<str:book_id>/", rest("OnePriceBook"), name="price-book"),
    path("<str:table>/", rest("Rows"), name="catalogue-rows"),
    path("<str:table>/<str:row_id>/", rest("OneRow"), name="catalogue-row"),
]
"""Under /api/v1/catalogue/."""
