"""The forecast: expected cash from planned transactions."""
