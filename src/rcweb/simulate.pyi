from rcweb.lab.simulate import *  # noqa: F403
