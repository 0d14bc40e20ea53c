"""Mean watts and energy a token while serving, from curve and power coefficients."""
