"""The laboratory: planted problems, scores, rivals, benchmarks, applications, public data.

May import: all of the product but cli; the product never imports it.
Exports: nothing here; `simulate` and `datasets` are also `rcweb.simulate`, `rcweb.datasets`.
"""
