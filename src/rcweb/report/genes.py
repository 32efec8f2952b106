"""What the page says about single variables: annotation, address, how well they are explained."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pandas as pd

from rcweb.engine.types import Array
from rcweb.report.data import GeneColumn

MOST_GENE_COLUMNS = 8  # of annotation; a table of genes may have hundreds
LONGEST_TEXT = 160  # characters of a cell; more is no annotation but a sequence
COLUMNS_AT_ONCE = 512  # variables predicted at a time, so that no second table is in memory
# Titles of what a reader wants to see first, in this order.
WANTED_TITLES = ("product", "description", "function", "gene_product", "annotation", "note", "cog")
POSITION_TITLES: Mapping[str, tuple[str, ...]] = {
    "chromosome": ("chromosome", "chrom", "chr", "contig", "replicon", "seqid", "seqname"),
    "start": ("start", "gene_start", "start_position", "left", "left_end_position"),
    "end": ("end", "stop", "gene_end", "end_position", "right", "right_end_position"),
    "strand": ("strand",),
}


def checked_link(template: str) -> str:
    """The template of addresses itself, if it is a safe one.

    >>> checked_link("https://www.ecocyc.org/gene?orgid=ECOLI&id={id}")
    'https://www.ecocyc.org/gene?orgid=ECOLI&id={id}'
    """
    parts = urlsplit(template)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ValueError(
            f"a link begins with https:// or http:// and a host, not {template!r:.80}."
        )
    fields = re.findall(r"\{[^}]*\}", template)
    unknown = [field for field in fields if field not in ("{id}", "{name}")]
    if unknown or not fields:
        found = f"not {unknown[0]}" if unknown else f"found none in {template!r:.80}"
        raise ValueError(f"a link has {{id}} or {{name}} where the variable goes; {found}.")
    # Names come from the data; they must not decide which server is asked.
    if "{" in parts.netloc:
        raise ValueError(f"{{id}} and {{name}} go after the host, not into it: {template!r:.80}.")
    return template


def gene_columns(table: pd.DataFrame | None, genes: Sequence[str]) -> tuple[GeneColumn, ...]:
    """Columns of a table indexed by variable that say something, the most wanted first."""
    if table is None:
        return ()
    here = table[~table.index.duplicated() & table.index.isin(list(genes))]
    texts = with_position(here.fillna("").astype(str))
    order = sorted(map(str, texts.columns), key=_wanted)
    # A column with the same text for all says nothing about any.
    telling = [title for title in order if texts[title].nunique() > 1]
    texts = texts.reindex(list(genes), fill_value="")
    return tuple(_coded(title, texts[title]) for title in telling[:MOST_GENE_COLUMNS])


def _wanted(title: str) -> int:
    plain = _plain_title(title)
    return WANTED_TITLES.index(plain) if plain in WANTED_TITLES else len(WANTED_TITLES)


def _plain_title(title: str) -> str:
    return re.sub(r"[\W_]+", "_", title.strip().lower())


def with_position(texts: pd.DataFrame) -> pd.DataFrame:
    """Columns of start, end and strand joined into one, "336..2799 (+)", at their place."""
    by_title = {_plain_title(str(title)): str(title) for title in reversed(list(texts.columns))}
    found = {
        part: next((by_title[t] for t in titles if t in by_title), None)
        for part, titles in POSITION_TITLES.items()
    }
    texts = texts.set_axis(list(map(str, texts.columns)), axis="columns")
    start, end = found["start"], found["end"]
    if start is None or end is None:
        return texts
    position = texts[start] + ".." + texts[end]
    if found["chromosome"]:
        position = texts[found["chromosome"]] + ":" + position
    if found["strand"]:
        position = position + " (" + texts[found["strand"]] + ")"
    position = position.where((texts[start] != "") & (texts[end] != ""), "")
    rest = texts.drop(columns=[title for title in found.values() if title is not None])
    at = min(list(texts.columns).index(start), rest.shape[1])
    rest.insert(at, "position" if "position" not in rest else "place", position)
    return rest


def _coded(title: str, texts: pd.Series) -> GeneColumn:
    short = texts.str.slice(0, LONGEST_TEXT)
    codes, levels = pd.factorize(short.where(short != ""))
    return GeneColumn(title, tuple(map(str, levels)), tuple(map(int, codes)))


def gene_fit(X: Any, activities: Any, weights: Array, genes: Sequence[str]) -> pd.Series:
    """Share of the variance of every variable that the network explains, over what was measured.

    X : (samples, variables), dense
    activities : (samples, regulators)
    weights : (regulators, variables)
    genes : names of the variables, for the index

    ``1 - ||g - R C||^2 / ||g||^2`` with g and R centred; negative if its mean predicts better, nan
    if it is constant.

    Examples
    --------
    >>> from rcweb import RCweb
    >>> from rcweb.report import gene_fit
    >>> from rcweb.simulate import simulate
    >>> X = simulate(60, 40, 3, random_state=0).data
    >>> model = RCweb(3).fit(X)
    >>> genes = model.network_.targets
    >>> gene_fit(X, model.transform(X), model.components_, genes).shape
    (40,)
    """
    data = np.asarray(X, dtype=np.float64)
    R = np.asarray(activities, dtype=np.float64)
    share = np.full(data.shape[1], np.nan)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        R = R - R.mean(axis=0)
        for start in range(0, data.shape[1], COLUMNS_AT_ONCE):
            some = slice(start, start + COLUMNS_AT_ONCE)
            share[some] = _shares(data[:, some], R, weights[:, some])
    return pd.Series(share, index=list(genes), name="explained")


def _shares(g: Array, R: Array, weights: Array) -> Array:
    seen = np.isfinite(g)
    # In units of the largest value: squares of extreme ones overflow.
    unit = np.abs(g).max(axis=0, where=seen, initial=0.0)
    unit[unit == 0] = 1.0
    g = g / unit
    centred = g - g.sum(axis=0, where=seen) / np.maximum(seen.sum(axis=0), 1)
    total = (centred**2).sum(axis=0, where=seen)
    rest = ((centred - R @ (weights / unit)) ** 2).sum(axis=0, where=seen)
    return np.where(total > 0, 1 - rest / np.where(total > 0, total, 1.0), np.nan)
