from django.urls import path

from planner.lazy import views_of

view = views_of("planner.finance.views")
centre_view = views_of("planner.finance.centre_views")
actual_view = views_of("planner.finance.actuals.views")
link_view = views_of("planner.finance.file_link_views")
rest = views_of("planner.finance.api")
sets = views_of("planner.finance.assumptions_api")
files = views_of("planner.finance.export_api")
approval_view = views_of("planner.finance.approvals.views")
approval_rest = views_of("planner.finance.approvals.api")

app_name = "finance"
urlpatterns = [
    path("<int:study_id>/finance/", view("finance"), name="finance"),
    path("<int:study_id>/finance/assumptions", view("save"), name="save"),
    path("<int:study_id>/finance/cost-centres/", centre_view("cost_centres"), name="cost_centres"),
    path("<int:study_id>/finance/actuals/", actual_view("actuals"), name="actuals"),
    path("<int:study_id>/finance/actuals/<int:actuals_id>/", actual_view("report"), name="actuals_report"),
    path("<int:study_id>/finance/actuals/<int:actuals_id>/delete", actual_view("delete"), name="actuals_delete"),
    path(
        "<int:study_id>/finance/actuals/<int:actuals_id>/uncounted.csv",
        actual_view("uncounted_csv"),
        name="actuals_uncounted",
    ),
    path("<int:study_id>/finance/approvals", approval_view("approve"), name="approve"),
    path("<int:study_id>/finance/approvals/<int:approval_id>/withdraw", approval_view("withdraw"), name="withdraw"),
    path("<int:study_id>/finance/links/", link_view("file_links_page"), name="file_links"),
    path("<int:study_id>/finance/links/<int:file_link_id>/revoke", link_view("revoke"), name="revoke_file_link"),
    path("<int:study_id>/finance/variance.csv", actual_view("variance_csv"), name="variance_csv"),
    path("<int:study_id>/finance/<slug:name>.<slug:kind>", view("export"), name="export"),
]
actual_rest = views_of("planner.finance.actuals.api")
link_rest = views_of("planner.finance.file_links_api")
rest_patterns = [
    path("<int:study_id>/finance/actuals", actual_rest("AllActuals"), name="all_actuals"),
    path("<int:study_id>/finance/actuals/<int:actuals_id>", actual_rest("OneActuals"), name="one_actuals"),
    path("<int:study_id>/finance/variance", actual_rest("VarianceRows"), name="variance_rows"),
    path("<int:study_id>/assumptions/", sets("AssumptionSets"), name="assumption_sets"),
    path("<int:study_id>/assumptions/<int:set_id>", sets("OneAssumptionSet"), name="assumption_set"),
    path("<int:study_id>/approvals/", approval_rest("AllApprovals"), name="approvals"),
    path("<int:study_id>/approvals/<int:approval_id>", approval_rest("OneApproval"), name="approval"),
    path("<int:study_id>/exports/", files("Exports"), name="exports"),
    path("<int:study_id>/exports/<str:file>", files("OneExport"), name="export"),
    path("<int:study_id>/file-links/", link_rest("FileLinks"), name="file_links"),
    path("<int:study_id>/file-links/<int:file_link_id>", link_rest("OneFileLink"), name="file_link"),
    path("<int:study_id>/finance/waterfall", approval_rest("Waterfall"), name="waterfall"),
    path("<int:study_id>/finance/costs", rest("AllCosts"), name="costs"),
    path("<int:study_id>/finance/<slug:name>", rest("CostRows"), name="cost_rows"),
]
"""Under /api/v1/studies/."""
scenario_rest_patterns = [
    path("<int:scenario_id>/approvals/", approval_rest("ScenarioApprovals"), name="scenario_approvals"),
]
"""Under /api/v1/scenarios/."""
