"""The part of the estimator that takes known targets: `guide`, and the results it sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self, overload

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rcweb.engine.instrument import Instrument
from rcweb.engine.threads import one_blas_thread
from rcweb.engine.types import Array
from rcweb.estimator.input import validated

if TYPE_CHECKING:
    import pandas as pd

    from rcweb.knowledge.prior import TableEvidence


PRIOR_COLUMNS = (
    "supported",
    "p",
    "q",
    "reliability",
    "strength",
    "members",
    "kept",
    "unseen",
    "new",
    "regulator",
    "together",
    "evidence",
)


class GuidedMixin:
    """Known targets in, new targets out; mixed into `RCweb`."""

    prior: Any
    groups: Any
    fdr: float

    def guide(self, prior: Any, groups: Any = None) -> Self:
        """Judge known targets by the fitted table; the network itself does not change.

        prior : lists of known targets, as in `RCweb`, whose `fit` calls this when it has a prior
        groups : related variables, such as operons, as in `RCweb`

        Returns the model itself. Sets `prior_`, `prior_sources_`, `prior_probability_`,
        `prior_score_` and `prior_weights_`. Lists with fewer than 3 members in the table are not
        judged, and named in `warnings_`. Raises ValueError for a model of another method than
        "refined".

        Examples
        --------
        >>> from rcweb import RCweb
        >>> from rcweb.simulate import simulate
        >>> truth = simulate(200, 300, 5, noise=0.2, random_state=0)
        >>> known = {f"regulator {p}": truth.network[p].nonzero()[0][::2] for p in range(5)}
        >>> lists = {name: [f"x{i}" for i in members] for name, members in known.items()}
        >>> model = RCweb(5).fit(truth.data).guide(lists)
        >>> model.prior_[["supported", "members", "kept"]].head(2)
                     supported  members  kept
        list
        regulator 0       True       16    16
        regulator 1       True       11    11
        """
        return self._guided_by(self._table_evidence(groups), prior, groups is not None)

    def _table_evidence(self, groups: Any) -> TableEvidence:
        """What the fitted table can say about lists; may serve several of them."""
        from rcweb.knowledge.prior import BlindFit, TableEvidence, group_numbers

        check_is_fitted(self)
        model: Any = self
        if getattr(model, "directions_", None) is None:
            raise ValueError(
                "This model cannot be guided: it was fitted by another method than 'refined', or "
                "by a version of rcweb below 0.2. Fit it again."
            )
        fit = BlindFit(
            model.directions_,
            model.edge_probability_,
            model.edge_score_,
            tuple(model.get_feature_names_out()),
            model.exact_zeros_,
        )
        with one_blas_thread():
            return TableEvidence(fit, group_numbers(groups, model._target_names()))

    def _guided_by(self, table: TableEvidence, prior: Any, grouped: bool) -> Self:
        """`guide` with what the table can say at hand."""
        from rcweb.knowledge.prior import guide, read_prior

        model: Any = self
        names = model._target_names()
        lists = read_prior(prior, names)
        with one_blas_thread():
            guidance = guide(table, lists, self.fdr)
            factors = _factors(model, guidance)
        self._prior, self._prior_sources = guidance.table, guidance.sources
        self.prior_probability_, self.prior_score_ = guidance.probability, guidance.score
        self.prior_projection_, self.prior_weights_, self.prior_std_ = factors
        self.prior_grouped_ = grouped
        self.prior_listed_ = _listed(guidance.lists, len(names))
        if lists.dropped:
            some = ", ".join(lists.dropped[:5]) + (", ..." if len(lists.dropped) > 5 else "")
            model.warnings_ = (
                *(w for w in model.warnings_ if not w.startswith("Too few members")),
                f"Too few members in the table, fewer than 3, to judge {len(lists.dropped)} of the "
                f"known lists: {some}.",
            )
        return self

    @property
    def guided(self) -> bool:
        """Whether known targets were judged, so that `prior_` and its like are there."""
        return hasattr(self, "_prior")

    @property
    def prior_(self) -> pd.DataFrame:
        """One row per list of known targets.

        supported : whether its members, each left out, vary with the others more than those of
            random lists do, at the false discovery rate `fdr`. Without `groups` that may also be
            the work of operons or of probes of one gene
        p, q : of that test
        reliability : share of the list that is seen in these data
        strength : what being listed adds to the log-odds of being a target
        members, kept, unseen : of the list; kept have a probability above one half
        new : variables not listed that are targets, at the false discovery rate `fdr`
        regulator : the one of the network in which the list stands out, or "none"
        together : lists that hold most of it, without which the rest of it is not seen
        evidence : "co-variation" (of whole profiles) or "row" (the matching regulator's edges)
        """
        import pandas as pd

        self._check_guided()
        table = pd.DataFrame(self._prior).set_index("list")
        return table[list(PRIOR_COLUMNS)]

    @property
    def prior_sources_(self) -> pd.DataFrame:
        """How far each of several sources is trusted; empty with one source.

        One row per list and source, and one per source (list "all"): source, list, members and
        reliability, the share of these members that is seen in the data.
        """
        import pandas as pd

        self._check_guided()
        return pd.DataFrame(
            self._prior_sources, columns=["source", "list", "members", "reliability"]
        )

    @overload
    def prior_activities(
        self, X: Any, return_std: Literal[False] = False, *, batch: Any = None
    ) -> Array: ...
    @overload
    def prior_activities(
        self, X: Any, return_std: Literal[True], *, batch: Any = None
    ) -> tuple[Array, Array]: ...
    @overload
    def prior_activities(self, X: Any, return_std: bool, *, batch: Any = None) -> Any: ...

    def prior_activities(self, X: Any, return_std: bool = False, *, batch: Any = None) -> Any:
        """Activities of the known lists, of unit variance in the fitted table.

        X : (n_samples, n_features_in_), in memory. A missing value counts as the variable's mean
        return_std : whether to return the standard deviations of their errors too
        batch : as in `transform`: the mean of each sample's study is subtracted

        Returns (n_samples, lists), in the order of `prior_`; 0 for lists without support. With
        `return_std` a second array of that shape follows: it grows with what is missing, and is 1
        (nothing known) for lists without support.

        Examples
        --------
        >>> from rcweb import RCweb
        >>> from rcweb.simulate import simulate
        >>> truth = simulate(100, 80, 4, random_state=0)
        >>> known = {"first": [f"x{i}" for i in truth.network[0].nonzero()[0]]}
        >>> RCweb(4, prior=known).fit(truth.data).prior_activities(truth.data).shape
        (100, 1)
        """
        from rcweb.estimator.studies import with_common_mean
        from rcweb.tables.studies import are_tables

        self._check_guided()
        model: Any = self
        if batch is not None or are_tables(X):
            X = with_common_mean(model, X, batch)
        X = np.asarray(validated(model, X, reset=False), dtype=np.float64)
        centred = Instrument.of(model)(X) - model.mean_
        missing = np.isnan(centred)
        activities = np.where(missing, 0.0, centred) @ self.prior_projection_
        if not return_std:
            return activities
        # Of one unit of activity the missing variables would have shown this part.
        lost = missing.astype(np.float64) @ (self.prior_projection_ * self.prior_weights_.T)
        return activities, np.sqrt(self.prior_std_**2 + lost**2)

    def new_targets(self) -> pd.DataFrame:
        """Every new target of every supported list, surest first within a list.

        regulator, target : the list, and a variable that it does not hold
        probability : that the variable is a target
        weight : its change with one unit of the list's activity
        agreement : how far it varies as the list does
        nearest : the listed members that vary most like it
        listed_by : other supported lists that hold it, which may explain its agreement instead

        Examples
        --------
        >>> from rcweb import RCweb
        >>> from rcweb.simulate import simulate
        >>> truth = simulate(200, 300, 5, noise=0.2, random_state=0)
        >>> targets = [f"x{i}" for i in truth.network[0].nonzero()[0]]
        >>> model = RCweb(5, prior={"first": targets[::2]}).fit(truth.data)  # half of them known
        >>> found = model.new_targets()["target"]
        >>> len(targets[1::2]), len(found), int(found.isin(targets).sum())  # hidden, found, right
        (16, 15, 15)
        """
        from rcweb.estimator.targets import new_target_table

        self._check_guided()
        return new_target_table(self)

    def _check_guided(self) -> None:
        check_is_fitted(self)
        if not self.guided:
            raise AttributeError(
                "The model has not seen known targets: fit with prior=..., or call guide(prior)."
            )


def _factors(model: Any, guidance: Any) -> tuple[Array, Array, Array]:
    """Projections (N, L), weights (L, N) and errors (L,) of the lists' activities."""
    from rcweb.knowledge.prior import Variables, list_factor

    values = model.singular_values_[: model.directions_.shape[1]]
    variables = Variables(model.directions_, values, model.noise_, model.spread_).scaled()
    L, N = guidance.probability.shape
    projection, weights, std = np.zeros((N, L)), np.zeros((L, N)), np.ones(L)
    for k, one in enumerate(guidance.lists):
        factor = list_factor(variables, model.spread_, one, guidance.probability[k])
        if factor is not None:
            projection[:, k], weights[k], std[k] = factor.projection, factor.weights, factor.std
    return projection, weights, std


def _listed(lists: Any, N: int) -> Any:
    listed = np.zeros((len(lists), N), bool)
    for k, one in enumerate(lists):
        listed[k, one.members] = True
    return listed
