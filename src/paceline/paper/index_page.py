"""The page that shows all figures in a folder."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

from paceline.display.table import Table
from paceline.paper.report import Report
from paceline.story.numbers import format_value

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem;
       color: #222; background: #fff; }
img { max-width: 100%; height: auto; }
section { margin-bottom: 3rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .7rem; text-align: right; border-bottom: 1px solid #ddd; }
th:first-child, td:first-child { text-align: left; }
small { color: #555; }
"""


def write_index(reports: Sequence[Report], folder: Path) -> Path:
    """Write `index.html` beside the figures and return it."""
    sections = "\n".join(_section(report) for report in reports)
    page = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>paceline: the paper's experiments</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>The paper's experiments</h1>
<p>Resource Allocation in Multi-armed Bandit Exploration: Overcoming Sublinear Scaling with Adaptive
Parallelism (ICML 2021), reproduced with paceline.</p>
{sections}
</body>
</html>
"""
    target = folder / "index.html"
    target.write_text(page, encoding="utf-8")
    return target


def _section(report: Report) -> str:
    notes = "".join(f"<li><small>{escape(note)}</small></li>" for note in report.notes)
    more = "".join(
        f'<h3>{escape(heading)}</h3><div class="scroll">{_table(table)}</div>'
        for heading, table in report.more
    )
    return f"""<section id="{report.name}">
<h2>{escape(report.title)}</h2>
<a href="{report.name}.svg"><img src="{report.name}.svg" alt="{escape(report.title)}"></a>
<ul>{notes}</ul>
<details><summary>Table (as <a href="{report.name}-table.csv">CSV</a>;
all data: <a href="{report.name}.csv">{report.name}.csv</a>)</summary>
<div class="scroll">{_table(report.summary)}</div>
{more}</details>
</section>"""


def _table(table: Table) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in table.columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(format_value(v))}</td>" for v in row) + "</tr>"
        for row in table.rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
