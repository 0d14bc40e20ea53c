"""One replica in steady state from its curve alone: mean TPOT, TTFT and throughput."""
