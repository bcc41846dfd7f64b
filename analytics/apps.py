from django.apps import AppConfig


class AnalyticsConfig(AppConfig):
    name = "analytics"

    def ready(self) -> None:
        import companies.hooks
        import ledger.hooks
        from analytics.overview import figures
        from analytics.queries import recurring

        companies.hooks.list_home_figures.register(figures.on_home)
        companies.hooks.rebuild_derived_tables.register(recurring.rebuild)
        companies.hooks.find_derived_differences.register(recurring.differences)
        ledger.hooks.subscription_events_changed.register(recurring.events_changed)
