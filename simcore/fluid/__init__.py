"""What follows without simulation: a request alone, the least work, bounds of capacity."""
