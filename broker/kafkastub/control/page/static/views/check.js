// Guarantees: what the application did to its records, each finding with a timeline of its partition.
import { get } from '../api.js';
import { html, useEffect, useState } from '../lib.js';
import { many, words } from '../parts/names.js';
import { timeText } from '../parts/time.js';
import { Badge, Button, Empty, ErrorNote, KeyValues, Loading, Name, Page, Section, number } from '../parts/ui.js';
import { href } from '../router.js';

const MOST = 50; // findings that are drawn

export default function Check() {
  const [verdict, setVerdict] = useState(null);
  const [error, setError] = useState(null);
  const [asks, setAsks] = useState(false);
  const look = async () => {
    setAsks(true);
    setError(null);
    try {
      setVerdict(await get('/v1/check'));
    } catch (failed) {
      setError(failed);
    }
    setAsks(false);
  };
  useEffect(() => { look(); }, []);
  return html`<${Page} title="Guarantees" actions=${html`<${Button} onClick=${look} disabled=${asks}>Check again<//>`}>
    <p class="hint">What the application did to its records, as far as its requests show it. Findings break a guarantee; notices may be intended.</p>
    <${ErrorNote} error=${error} onRetry=${look} />
    ${verdict ? html`<${Verdict} verdict=${verdict} />` : asks ? html`<${Loading} />` : null}<//>`;
}

function Verdict({ verdict }) {
  const { findings, notices, undecided } = verdict;
  const seen = Object.entries(verdict.looked_at).map(([what, count]) => `${number(count)} ${count === 1 ? what.replace(/^(batch)es|^(\w+)s/, '$1$2') : what}`).join(', ');
  return html`<div class="card" role="status"><div class="row"><${Badge} tone=${verdict.ok ? 'good' : 'bad'}>${verdict.ok ? 'No broken guarantee found' : many(findings.length, 'finding')}<//>
      <span class="soft">${seen}</span></div></div>
    ${findings.length ? html`<${Section} title="Findings">${findings.slice(0, MOST).map((one) => html`<${Finding} one=${one} tone="bad" />`)}<//>` : null}
    ${notices.length ? html`<${Section} title="Noticed" note="Kafka does not promise it, or it may be intended">${notices.slice(0, MOST).map((one) => html`<${Finding} one=${one} tone="info" />`)}<//>` : null}
    ${undecided.length ? html`<${Section} title="Undecided"><ul class="list card">${undecided.map((one) => html`<li class="list-item"><${Name}>${one}<//></li>`)}</ul><//>` : null}
    ${findings.length + notices.length + undecided.length ? null : html`<div class="card"><${Empty} title="Nothing to tell">No record was skipped, given twice, or refused and given up.<//></div>`}`;
}

function Finding({ one, tone }) {
  const place = one.topic === null ? '' : one.partition === null ? one.topic : `${one.topic}-${one.partition}`;
  const offsets = one.offsets.map((range) => (range.first === range.last ? number(range.first) : `${number(range.first)} to ${number(range.last)}`)).join(', ');
  return html`<article class="card finding" aria-label=${words(one.guarantee)}>
    <div class="row"><${Badge} tone=${tone}>${words(one.guarantee)}<//><strong><${Name}>${place}<//></strong>${offsets ? html`<span class="num">offsets ${offsets}</span>` : null}
      ${one.group ? html`<span class="soft">of group <a href=${href('groups', one.group)}><${Name}>${one.group}<//></a></span>` : null}
      ${one.jepsen ? html`<span class="soft">Jepsen: ${one.jepsen}</span>` : null}</div>
    <p><${Name}>${one.cause}<//></p>
    ${one.timeline.length ? html`<${Timeline} steps=${one.timeline} marked=${one.offsets} />` : null}
    ${Object.keys(one.advice).length ? html`<details><summary>What to do about it</summary><${KeyValues} items=${Object.entries(one.advice)} /></details>` : null}</article>`;
}

/** A line a step: when, what, who, and the offsets as a bar over all offsets that the steps name; what the finding is about is marked. */
function Timeline({ steps, marked }) {
  const named = [...steps, ...marked].flatMap((one) => [one.first, one.last]).filter((offset) => typeof offset === 'number');
  const low = Math.min(...named);
  const span = Math.max(1, Math.max(...named) - low + 1);
  const percent = (offset) => `${(100 * (offset - low)) / span}%`;
  const bar = (one, kind) => {
    if (typeof one.first !== 'number') return null;
    const last = typeof one.last === 'number' ? one.last : one.first;
    return html`<span class=${`span-bar ${kind}`} style=${{ left: percent(one.first), ...(kind === 'point' ? {} : { width: `max(3px, ${(100 * (last - one.first + 1)) / span}%)` }) }}></span>`;
  };
  return html`<ol class="timeline" aria-label="What happened to the partition">${steps.map((step) => html`<li>
    <a class="num" href=${href('journal', String(step.entry))}>${timeText(step.broker_ms)}</a>
    <span><${Name}>${`${step.what}${offsetsText(step)}`}<//></span>
    <span class="soft"><${Name}>${step.who}<//></span>
    <span class="spans" aria-hidden="true">${marked.map((range) => bar(range, 'marked'))}${bar(step, typeof step.last === 'number' ? 'range' : 'point')}</span></li>`)}</ol>`;
}

function offsetsText({ first, last }) {
  if (typeof first !== 'number') return '';
  return typeof last === 'number' && last !== first ? ` ${number(first)} to ${number(last)}` : ` ${number(first)}`;
}
