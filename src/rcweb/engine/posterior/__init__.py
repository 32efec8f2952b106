"""The joint posterior of R, C and the noise: mean field (`mean_field`) and sampling (`gibbs`).

May import: the engine's condensed table and types.
Exports: nothing here; both return a `Posterior` with a probability for every edge.
"""
