"""The laboratory: planted problems, rivals, benchmarks, public data; no part of the product."""
