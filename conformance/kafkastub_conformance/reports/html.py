"""The report for people: one page, the matrix of cases and versions an API."""

from __future__ import annotations

from collections import defaultdict
from html import escape

from kafkastub_conformance.apis import Api, apis
from kafkastub_conformance.model import Case, Outcome, Result, Status
from kafkastub_conformance.registry import slug
from kafkastub_conformance.reports import text
from kafkastub_conformance.reports.page import counts, differences, exchange, page

_SIGNS = {Status.PASSED: "✓", Status.FAILED: "✗", Status.ERROR: "!", Status.SKIPPED: "–"}

EVERY_API = "every-api-of-the-release"


def report(outcome: Outcome) -> str:
    """The page."""
    by_api: defaultdict[str, list[Result]] = defaultdict(list)
    for result in outcome.results:
        by_api[result.run.case.api].append(result)
    parts = [
        *(f"<p>{escape(note)}</p>" for note in outcome.notes),
        counts((status.value, status.value, outcome.count(status)) for status in Status),
        f'<p><a href="#{EVERY_API}">Every API of Apache Kafka {escape(outcome.release)}</a>, without a case too.</p>',
        '<input type="checkbox" id="bad"><label for="bad">only what did not pass</label> &ensp;',
        '<input type="checkbox" id="ids"><label for="ids">ids and sources</label>',
        "<main>",
        _overview(by_api),
        *(_matrix(api, results) for api, results in by_api.items()),
        _failures(outcome.bad),
        _skipped(outcome.results),
        _every_api(outcome),
        "</main>",
    ]
    return page(f"Conformance of {outcome.broker}", _circumstances(outcome), parts)


def _circumstances(outcome: Outcome) -> str:
    began = outcome.began.replace("T", " ").replace("+00:00", " UTC")
    told = [f"profile {outcome.profile}", began, f"{outcome.seconds:.1f} s"]
    if outcome.release:
        told.insert(1, f"measured by Apache Kafka {outcome.release}")
    return " · ".join(told + ["interrupted"] * outcome.interrupted)


def _overview(by_api: dict[str, list[Result]]) -> str:
    """A row an API, a column a version: how many runs passed, of how many where not all did."""
    last = max((result.run.version for results in by_api.values() for result in results), default=-1)
    head = "".join(f'<th scope="col">v{version}</th>' for version in range(last + 1))
    rows = []
    for api, results in by_api.items():
        cells = [[one for one in results if one.run.version == version] for version in range(last + 1)]
        fine = "" if any(result.bad for result in results) else ' class="fine"'
        rows.append(
            f'<tr{fine}><th scope="row"><a href="#{slug(api)}">{escape(api)}</a></th>'
            f'<td class="all">{_told_count(results)}</td>'
            f"{''.join(f'<td>{_count(cell)}</td>' for cell in cells)}</tr>"
        )
    return (
        '<div class="wide"><table class="over"><thead><tr><th></th><th class="all">all</th>'
        f"{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _count(results: list[Result]) -> str:
    if not results:
        return ""
    statuses = {result.status for result in results}
    worst = next(
        status for status in (Status.FAILED, Status.ERROR, Status.PASSED, Status.SKIPPED) if status in statuses
    )
    return f'<span class="{worst.value}">{_told_count(results)}</span>'


def _told_count(results: list[Result]) -> str:
    played = [result for result in results if result.status is not Status.SKIPPED]
    passed = sum(not result.bad for result in played)
    return ("–" if not played else str(passed)) if passed == len(played) else f"{passed}/{len(played)}"


def _matrix(api: str, results: list[Result]) -> str:
    versions = sorted({result.run.version for result in results})
    rows: dict[Case, dict[int, Result]] = {}
    for result in results:
        rows.setdefault(result.run.case, {})[result.run.version] = result
    head = "".join(f'<th class="run" scope="col">v{version}</th>' for version in versions)
    fine = "" if any(result.bad for result in results) else ' class="fine"'
    lines = [
        f'<section{fine}><h2 id="{slug(api)}">{escape(api)}</h2><div class="wide"><table>',
        f'<thead><tr><th scope="col">case</th>{head}</tr></thead><tbody>',
    ]
    for case, runs in rows.items():
        cells = "".join(f'<td class="run">{_cell(runs.get(version))}</td>' for version in versions)
        row = "<tr>" if any(result.bad for result in runs.values()) else '<tr class="fine">'
        lines.append(f"{row}<td>{_told(case)}</td>{cells}</tr>")
    return "\n".join([*lines, "</tbody></table></div></section>"])


def _told(case: Case) -> str:
    marks = f'<span class="mark">{case.profile}</span>' if case.profile != "both" else ""
    marks += '<span class="mark">slow</span>' if case.slow else ""
    marks += '<span class="mark">clock</span>' if case.clock else ""
    marks += f'<span class="mark">since {escape(case.since)}</span>' if case.since else ""
    hint = f"{escape(case.id)} · {escape(case.source)}"
    return f'<span title="{hint}">{escape(case.shows)}</span>{marks}<span class="id">{hint}</span>'


def _cell(result: Result | None) -> str:
    if result is None:
        return ""
    hint = escape(f"{result.run.id}: {result.reason or result.status.value}", quote=True)
    sign, kind = _SIGNS[result.status], result.status.value
    if result.bad:
        return f'<a class="{kind}" href="#{slug(result.run.id)}" title="{hint}">{sign}</a>'
    return f'<span class="{kind}" title="{hint}">{sign}</span>'


def _failures(bad: list[Result]) -> str:
    """Case by case; versions that differ in the same way are told together."""
    if not bad:
        return ""
    by_case: defaultdict[Case, list[Result]] = defaultdict(list)
    for result in bad:
        by_case[result.run.case].append(result)
    return "<h2>What did not pass</h2>" + "\n".join(_failure(case, results) for case, results in by_case.items())


def _failure(case: Case, results: list[Result]) -> str:
    lines = [
        f'<section class="failure"><h3>{escape(case.id)}</h3>',
        f'<p>{escape(case.shows)} <span class="source">{escape(case.source)}</span></p>',
    ]
    alike: defaultdict[tuple[str, ...], list[Result]] = defaultdict(list)
    for result in results:
        alike[tuple(one.path for one in result.differences) or (result.reason,)].append(result)
    for group in alike.values():
        lines += _alike(group)
    return "\n".join([*lines, "</section>"])


def _alike(results: list[Result]) -> list[str]:
    """Runs of a case that differ in the same fields: the first of them, told in full."""
    first = results[0]
    places = ", ".join(f'<span id="{slug(result.run.id)}">v{result.run.version}</span>' for result in results)
    lines = [f'<p class="versions">{places}</p>']
    if first.differences:
        lines.append(differences((one.path, one.expected, one.got) for one in first.differences))
    else:
        lines.append(f"<p>{escape(first.reason)}</p>")
    if first.frames:
        count = len(first.frames)
        lines.append(exchange(f"{count} frame{'s' if count > 1 else ''} of v{first.run.version}", first.frames))
    return lines


def _skipped(results: list[Result]) -> str:
    """What was not played, by reason."""
    reasons: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for result in results:
        if result.status is Status.SKIPPED:
            reasons[result.reason][result.run.case.id] = None
    rows = [
        f"<tr><td>{escape(reason)}</td><td><code>{escape(', '.join(names))}</code></td></tr>"
        for reason, names in reasons.items()
    ]
    if not rows:
        return ""
    return f'<section class="fine"><h2>What was skipped</h2><table>{"".join(rows)}</table></section>'


def _every_api(outcome: Outcome) -> str:
    """A row an API of the release: what the broker has of it, and what is shown."""
    head = "".join(f'<th scope="col">{word}</th>' for word in ("API", "key", "release", "broker", "cases", "shown"))
    rows = "\n".join(map(_api, apis(outcome)))
    return (
        f'<section class="fine"><h2 id="{EVERY_API}">Every API of Apache Kafka {escape(outcome.release)}</h2>'
        f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div></section>'
    )


def _api(api: Api) -> str:
    name = f'<a href="#{slug(api.name)}">{escape(api.name)}</a>' if any(api.runs.values()) else escape(api.name)
    told = ", ".join(f"{api.runs[status]} {status.value}" for status in Status if api.runs[status])
    worst = "skipped" if not api.played else "passed" if api.fine else "failed"
    cells = name, str(api.key), _between(api.release), _between(api.served), str(api.cases)
    kind = f'<td><span class="{worst}">{told or escape(text.TOLD[api.shown])}</span></td>'
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}{kind}</tr>"


def _between(versions: tuple[int, int] | None) -> str:
    return (
        "–"
        if versions is None
        else f"v{versions[0]}"
        if versions[0] == versions[1]
        else f"v{versions[0]}–{versions[1]}"
    )
