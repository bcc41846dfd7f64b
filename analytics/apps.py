from django.apps import AppConfig


class AnalyticsConfig(AppConfig):
    name = "analytics"

    def ready(self) -> None:
        import companies.hooks
        import ledger.hooks
        from analytics.charts import key_figures
        from analytics.queries import recurring_revenue, reported_figures, reported_plan
        from analytics.reports import report_differences

        companies.hooks.list_home_figures.register(key_figures.list_home_figures)
        companies.hooks.rebuild_derived_tables.register(recurring_revenue.rebuild_recurring_revenue)
        companies.hooks.find_derived_differences.register(recurring_revenue.find_recurring_revenue_differences)
        ledger.hooks.list_recurring_rows.register(recurring_revenue.list_recurring_rows)
        ledger.hooks.subscription_events_changed.register(recurring_revenue.update_recurring_revenue)
        ledger.hooks.list_figures_to_report.register(reported_figures.list_figures_to_report)
        ledger.hooks.list_report_differences.register(report_differences.list_report_differences)
        ledger.hooks.list_plans_to_report.register(reported_plan.list_plans_to_report)
