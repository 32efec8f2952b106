from rcweb.lab.datasets import *  # noqa: F403
