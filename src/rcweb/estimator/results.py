"""The part of the estimator that is read after a fit: the network, its names, tables about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from rcweb.engine.threads import one_blas_thread

if TYPE_CHECKING:
    import pandas as pd

    from rcweb.network import Explanation, Network


class ResultsMixin(ClassNamePrefixFeaturesOutMixin):
    """The labelled network and the tables about it; mixed into `RCweb`."""

    @property
    def network_(self) -> Network:
        """The labelled network, `rcweb.network.Network`; its ``edges()`` is a table sorted by
        score."""
        from rcweb.network import Network, grades_of

        check_is_fitted(self)
        return Network(
            weights=self.components_,
            probability=self.edge_probability_,
            score=self.edge_score_,
            regulators=tuple(self.get_feature_names_out()),
            targets=self._target_names(),
            grades=grades_of(self.diagnosis_),
            **self._shown_names(),
        )

    def set_names(
        self,
        regulators: Mapping[str, str] | pd.Series | None = None,
        targets: Mapping[str, str] | pd.Series | None = None,
    ) -> Self:
        """Name regulators, targets or both; all exports then hold id and name.

        regulators, targets : ``{id: name}`` or a Series. None leaves names unchanged; anything else
            replaces all names of that kind. An empty or missing name means no name. `targets` may
            name variables that the model does not have; `regulators` may not

        ``set_names(name_regulators(model, known)["name"])`` names regulators after known ones.

        Examples
        --------
        >>> from rcweb import RCweb
        >>> from rcweb.simulate import simulate
        >>> model = RCweb(3).fit(simulate(60, 40, 3, random_state=0).data)
        >>> model.set_names({"rcweb0": "fur"}).network_.regulator_labels
        ('fur (rcweb0)', 'rcweb1', 'rcweb2')
        """
        check_is_fitted(self)
        if regulators is not None:
            known = set(self.get_feature_names_out())
            if unknown := [key for key in dict(regulators) if key not in known]:
                raise ValueError(
                    f"There is no regulator {unknown[0]!r}; ids are rcweb0, rcweb1, ..."
                )
            self.regulator_names_ = _named(regulators, known)
        if targets is not None:
            self.target_names_ = _named(targets, set(self._target_names()))
        return self

    def explain(
        self, variable: str, X: Any = None, *, activities: Any = None, batch: Any = None
    ) -> Explanation:
        """The regulators of one variable; ``print`` shows a table.

        variable : its id or its name
        X : samples, in memory; with them the result also has the share of the variance that each
            regulator explains there, and the profile of the variable
        activities : ``transform(X)``, if it is known already, or instead of `X`
        batch : as in `transform`; differences between the means of studies are then taken off

        Returns a `rcweb.network.Explanation`. Raises ValueError, with near names, for a variable
        that is not in the model.

        Examples
        --------
        >>> from rcweb import RCweb
        >>> from rcweb.simulate import simulate
        >>> X = simulate(120, 100, 5, random_state=0).data
        >>> print(RCweb(5).fit(X).explain("x3", X))
        x3: 2 regulators, 87% of its variance
        regulator  weight probability score     grade share
           rcweb2 -0.0437       1.000 -21.4 certified   46%
           rcweb4 -0.0417       1.000 -20.4 certified   41%
        Shares of variance are measured in the data given.
        """
        from rcweb.estimator.explain import explain_variable

        check_is_fitted(self)
        return explain_variable(self, variable, X, activities, batch)

    @property
    def diagnosis_(self) -> pd.DataFrame:
        """How every regulator was found and how far to trust it, a row each; made at first use.

        certified : found again in halves of the variables that share none, and of the samples where
            noise is seen not to be independent, directions above it come to an end and zeros are
            exact
        found : certified, or sparser than chance and the same for any start
        frequency : share of the other searches that have it
        error : expected 1 - cosine between this regulator and that of another set of searches
        recurrence : agreement of disjoint halves of the variables, 0 to 1
        edges, zeros : number of targets, and of the non-targets that determine the regulator
        noise_ratio : near 1 when zeros are exact, larger when they are only small
        gap : near 1 when another column fits as well
        score, chance : sparseness found, and the best that the same search reaches by chance
        share : part of the regulator that no other one explains

        Other methods than "refined" have other columns.
        """
        self._make_diagnosis()
        return self._table("_diagnosis", index=self.get_feature_names_out())

    @property
    def evidence_(self) -> pd.DataFrame:
        """The numbers behind the choice of the number of regulators; `reason_` says it in words."""
        return self._table("_evidence")

    @property
    def studies_(self) -> pd.DataFrame:
        """What several studies disagree on, after a fit to them; one row per regulator and study.

        regulator, study, n_samples : of which regulator, in which study, of how many samples
        variance_share : share of the study's variance that the regulator alone accounts for
        correlation : of the regulator's row as that study alone gives it, with the common one
        excess : squared deviation of the two in standard errors, beside its usual size
        q : of that excess, by chance; Benjamini-Hochberg
        disagrees : whether q is below 0.05
        """
        check_is_fitted(self, "study_records_")
        return self._table("study_records_")

    def _make_diagnosis(self) -> None:
        """Compute the records once, and release the arrays behind them."""
        if hasattr(self, "_diagnose"):
            with one_blas_thread():
                self._diagnosis = self._diagnose()
            del self._diagnose

    def _table(self, name: str, index: Any = None) -> pd.DataFrame:
        import pandas as pd

        check_is_fitted(self)
        return pd.DataFrame(getattr(self, name), index=index)

    def _shown_names(self) -> dict[str, tuple[str, ...]]:
        """Names of a `Network`; a model saved by an earlier version has none."""
        regulators = getattr(self, "regulator_names_", {})
        targets = getattr(self, "target_names_", {})
        return {
            "regulator_names": tuple(regulators.get(i, i) for i in self.get_feature_names_out()),
            "target_names": tuple(targets.get(i, i) for i in self._target_names()),
        }

    def _target_names(self) -> tuple[str, ...]:
        names = self._given_names()
        if names is None:
            return tuple(f"x{i}" for i in range(self.n_features_in_))
        return tuple(map(str, names))

    def _given_names(self) -> Any:
        """Names of the variables, (n_features_in_,), or None if the table had none."""
        return getattr(self, "feature_names_in_", None)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_


def _named(names: Mapping[str, str] | pd.Series, known: set[str]) -> dict[str, str]:
    """``{id: name}`` of what is `known` and has a name."""
    return {str(k): str(v) for k, v in names.items() if k in known and isinstance(v, str) and v}
