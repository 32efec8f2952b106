"""From columns to R, C, noise and the probability of every edge, on the data themselves.

`sparse` where zeros are exact, `diffuse` where small effects are everywhere; both by the joint
posterior (`rcweb.engine.posterior`), `sampled` where mean field is not to be believed.
"""
