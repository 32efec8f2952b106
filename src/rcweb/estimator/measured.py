"""The part of the estimator that takes measured regulators: `measure`, and the table it sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    import pandas as pd

    from rcweb.engine.solution import SeenFactors


class MeasuredMixin:
    """Some regulators measured in some samples; mixed into `RCweb`."""

    def measure(self, activities: Any, measured: Any) -> Self:
        """Match measured factors to the regulators after the fit; the network does not change.

        activities : of the samples, as ``transform`` gives them; a DataFrame is joined by name
        measured : as in ``fit``, which is to be preferred: there measurements can also improve the
            network

        Sets `measured_`.

        Examples
        --------
        >>> from rcweb import RCweb
        >>> from rcweb.simulate import simulate
        >>> truth = simulate(100, 200, 5, noise=0.2, random_state=0)
        >>> model = RCweb(5, random_state=0).fit(truth.data)
        >>> model = model.measure(model.transform(truth.data), truth.activities[:, :2])
        >>> model.measured_["reason"].tolist()
        ['named', 'named']
        """
        from rcweb.knowledge.measured import match_measured

        check_is_fitted(self)
        self._keep_measured(match_measured(activities, measured))
        return self

    @property
    def has_measured(self) -> bool:
        """Whether the model knows measured factors, and `measured_` is there."""
        return hasattr(self, "_measured")

    @property
    def measured_(self) -> pd.DataFrame:
        """One row per measured factor.

        regulator : its name, or None; candidate : the one assigned to it in any case
        p, q : of chance: whether shuffled measurements would vary as much with the table
        confidence : probability of the candidate against all other regulators, and against a
            direction of the table that is no single regulator
        correlation, sign : with the candidate's activity in the `n_samples` measured
        scale, scale_low, scale_high, offset : ``factor = offset + scale * activity``, with the
            95 % interval of the scale; error : standard deviation of the measurements around it
        used : whether it took part in the fit; reason : why it is or is not named
        """
        import pandas as pd

        check_is_fitted(self)
        if not self.has_measured:
            raise AttributeError(
                "The model knows no measured factors: call fit(X, measured=...), or "
                "measure(activities, measured)."
            )
        return pd.DataFrame(self._measured)

    def _match_fitted(self, X: Any, measured: pd.DataFrame, seen: SeenFactors | None) -> None:
        """Set `measured_` after a fit to `X` that judged the factors; None: it did not."""
        import pandas as pd

        from rcweb.knowledge.measured import match_measured, measured_table

        model: Any = self
        activities = np.asarray(model.transform(X), dtype=np.float64)
        frame = pd.DataFrame(activities, measured.index, model.get_feature_names_out())
        if seen is None:
            self._keep_measured(match_measured(frame, measured))
        else:
            self._keep_measured(measured_table(frame, measured, seen))

    def _keep_measured(self, table: pd.DataFrame) -> None:
        self._measured = {name: table[name].tolist() for name in table.columns}
