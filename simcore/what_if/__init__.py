"""A study's answer under other prices, limits or rates, by what was simulated; what was never tried, counted."""
