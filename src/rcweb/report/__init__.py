"""One self-contained html page about a fitted network: ``write_report(path, report_data(...))``,
and one about two of them side by side.

May import: knowledge, activity and what is below them.
Exports: `report_data`, `gene_fit`, `render_report`, `write_report`, `render_comparison` and the
types of the data.
"""

from __future__ import annotations

from rcweb.report.comparison_page import render_comparison
from rcweb.report.data import Known, Regulator, ReportData, ReportTable
from rcweb.report.gather import report_data
from rcweb.report.genes import gene_fit
from rcweb.report.page import render_report, write_report

__all__ = [
    "Known",
    "Regulator",
    "ReportData",
    "ReportTable",
    "gene_fit",
    "render_comparison",
    "render_report",
    "report_data",
    "write_report",
]
