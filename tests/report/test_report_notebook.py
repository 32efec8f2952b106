"""What a notebook shows of a model."""

from __future__ import annotations

import pandas as pd
from report_examples import HOSTILE
from sklearn import config_context

from rcweb import RCweb
from rcweb.lab.simulate import simulate


def test_a_fitted_model_shows_its_network():
    """Diagram, reason, table of regulators; both hooks that notebooks use give the same."""
    truth = simulate(60, 40, 3, noise=0.0, random_state=0)
    columns = [HOSTILE] + [f"gene{n}" for n in range(39)]
    model = RCweb(3, method="paper").fit(pd.DataFrame(truth.data, columns=columns))
    page = model._repr_mimebundle_()["text/html"]
    assert page.count("sk-container-id") > 0
    assert model.reason_ in page
    assert "3 regulators" in page
    assert "rcweb2" in page
    assert HOSTILE not in page
    assert "3 regulators" in model._repr_html_()


def test_an_unfitted_model_shows_the_diagram_alone():
    """And a user who prefers text gets text."""
    page = RCweb(3)._repr_html_()
    assert "sk-container-id" in page
    assert "rcweb network" not in page
    with config_context(display="text"):
        assert "text/html" not in RCweb(3)._repr_mimebundle_()
