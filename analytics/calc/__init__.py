"""Pure calculations of analytics: recurring revenue, time series, and chart layout."""
