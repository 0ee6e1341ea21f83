// The metrics as small plots. They are read once a second while somebody looks; what was read is kept by the page.
import { getText } from '../api.js';
import { html, useEffect, useState } from '../lib.js';
import { Plot } from '../parts/plot.js';
import { useWaiting } from '../parts/ready.js';
import { Table } from '../parts/table.js';
import { Empty, ErrorNote, LinkButton, Page, Section, bytesText, number } from '../parts/ui.js';

const EVERY_MS = 1000;
const MOST = 300; // readings that are kept
const LINE = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/gm;
const LABEL = /([a-z_]+)="((?:\\.|[^"\\])*)"/g;

const BUCKETS = 'kafkastub_request_duration_seconds_bucket'; // of the last reading alone: there are many

const readings = []; // {at, metrics: Map(name -> [{labels, value}])}
const known = new Map(); // labels as they are written -> as an object, which all readings share

function labelsOf(text) {
  if (!known.has(text)) {
    known.set(text, Object.fromEntries([...text.matchAll(LABEL)].map(([, key, said]) => [key, said.replace(/\\(.)/g, (_, sign) => (sign === 'n' ? '\n' : sign))])));
  }
  return known.get(text);
}

function parsed(text) {
  const metrics = new Map();
  for (const [, name, labels = '', value] of text.matchAll(LINE)) {
    if (!metrics.has(name)) metrics.set(name, []);
    metrics.get(name).push({ labels: labelsOf(labels), value: Number(value) });
  }
  return metrics;
}

const sum = (reading, name, fits = () => true) => (reading.metrics.get(name) ?? []).reduce((all, one) => all + (fits(one.labels) ? one.value : 0), 0);

/** How much it grew a second, between two readings one after the other; null where the broker began anew. */
function rates(figure) {
  return readings.map((reading, index) => {
    if (index === 0) return null;
    const before = readings[index - 1];
    const grown = figure(reading) - figure(before);
    return grown < 0 ? null : grown / Math.max(0.001, (reading.at - before.at) / 1000);
  });
}

const values = (figure) => readings.map(figure);

function mean() {
  const took = rates((reading) => sum(reading, 'kafkastub_request_duration_seconds_sum'));
  const many = rates((reading) => sum(reading, 'kafkastub_request_duration_seconds_count'));
  return took.map((value, index) => (value === null || !many[index] ? null : value / many[index]));
}

/** The upper bound of the bucket that so many of the requests stayed below, of the last reading. */
function quantile(reading, share, fits) {
  const bounds = new Map();
  for (const { labels, value } of reading.metrics.get(BUCKETS) ?? []) {
    if (fits(labels)) bounds.set(labels.le, (bounds.get(labels.le) ?? 0) + value);
  }
  const all = bounds.get('+Inf') ?? 0;
  for (const [le, count] of [...bounds].sort((one, other) => Number(one[0].replace('+Inf', 'Infinity')) - Number(other[0].replace('+Inf', 'Infinity')))) {
    if (count >= share * all) return le === '+Inf' ? Infinity : Number(le);
  }
  return null;
}

const rate = (value) => `${value < 10 ? value.toFixed(1) : number(Math.round(value))}/s`;
const bytes = (value) => `${bytesText(Math.round(value))}/s`;
function seconds(value) {
  if (value === null || !Number.isFinite(value)) return value === null ? '–' : '> 17 s';
  if (value < 0.001) return `${Math.round(value * 1e6)} µs`;
  return value < 1 ? `${(value * 1000).toFixed(value < 0.01 ? 1 : 0)} ms` : `${value.toFixed(1)} s`;
}

export default function Metrics() {
  const [error, setError] = useState(null);
  const [, setRound] = useState(0);
  useEffect(() => {
    let ended = false;
    let timer = null;
    const read = async () => {
      try {
        if (!document.hidden) {
          const metrics = parsed(await getText('/metrics'));
          readings.at(-1)?.metrics.delete(BUCKETS);
          readings.push({ at: Date.now(), metrics });
          if (readings.length > MOST) readings.shift();
          setError(null);
        }
      } catch (problem) {
        setError(problem);
      }
      if (ended) return;
      setRound((one) => one + 1);
      timer = setTimeout(read, readings.length < 4 ? EVERY_MS / 4 : EVERY_MS); // something is to be seen at once
    };
    read();
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }, []);
  useWaiting(readings.length < 3 && !error); // a rate wants two of them
  const last = readings.at(-1);
  return html`<${Page} title="Metrics" actions=${html`<${LinkButton} href="metrics">As Prometheus reads them<//>`}
    note="Read once a second while this view is open; the plots begin when it is.">
    <${ErrorNote} error=${error} />
    ${last ? html`<${Plots} /><${Apis} last=${last} />` : null}
  <//>`;
}

function Plots() {
  const times = readings.map((reading) => reading.at);
  const last = readings.at(-1);
  const busiest = [...new Set((last.metrics.get('kafkastub_requests_total') ?? []).map((one) => one.labels.api))]
    .map((api) => [api, recent((reading) => sum(reading, 'kafkastub_requests_total', (labels) => labels.api === api))])
    .filter(([, grown]) => grown > 0).sort((one, other) => other[1] - one[1]).slice(0, 5).map(([api]) => api);
  const counter = (title, name, format = rate) => html`<${Plot} title=${title} times=${times} format=${format} series=${[{ name: title, values: rates((reading) => sum(reading, name)) }]} />`;
  const states = [...new Set((last.metrics.get('kafkastub_groups') ?? []).map((one) => one.labels.state))];
  const share = sum(last, 'kafkastub_share_partitions') > 0;
  return html`<div class="plots">
    <${Plot} title="Requests" times=${times} format=${rate} series=${[{ name: 'all', values: rates((reading) => sum(reading, 'kafkastub_requests_total')) }]} />
    ${busiest.length ? html`<${Plot} title="Requests by API" times=${times} format=${rate} note=${html`<span class="faint">the busiest</span>`} series=${busiest.map((api) => ({
      name: api, values: rates((reading) => sum(reading, 'kafkastub_requests_total', (labels) => labels.api === api)) }))} />` : null}
    <${Plot} title="Mean time to the answer" times=${times} format=${seconds} series=${[{ name: 'mean', values: mean() }]} />
    <${Plot} title="Errors answered" times=${times} format=${rate} series=${[{ name: 'errors', values: rates((reading) => sum(reading, 'kafkastub_request_errors_total', (labels) => labels.error !== 'NONE')) }]} />
    <${Plot} title="Traffic" times=${times} format=${bytes} series=${[
      { name: 'received', values: rates((reading) => sum(reading, 'kafkastub_received_bytes_total')) },
      { name: 'sent', values: rates((reading) => sum(reading, 'kafkastub_sent_bytes_total')) }]} />
    ${counter('Offsets committed', 'kafkastub_offset_commits_total')}
    ${counter('Rebalances completed', 'kafkastub_group_completed_rebalances_total')}
    <${Plot} title="Offsets kept" times=${times} format=${(value) => number(Math.round(value))} series=${[{ name: 'offsets', values: values((reading) => sum(reading, 'kafkastub_offsets')) }]} />
    <${Plot} title="Connections" times=${times} format=${(value) => number(Math.round(value))} series=${[{ name: 'open', values: values((reading) => sum(reading, 'kafkastub_connections')) }]} />
    ${states.length ? html`<${Plot} title="Groups" times=${times} format=${(value) => number(Math.round(value))} series=${states.slice(0, 6).map((state) => ({
      name: state, values: values((reading) => sum(reading, 'kafkastub_groups', (labels) => labels.state === state)) }))} />` : null}
    ${sum(last, 'kafkastub_transactions_ended_total') ? html`<${Plot} title="Transactions ended" times=${times} format=${rate} series=${['committed', 'aborted'].map((result) => ({
      name: result, values: rates((reading) => sum(reading, 'kafkastub_transactions_ended_total', (labels) => labels.result === result)) }))} />` : null}
    ${share ? html`<${Plot} title="Share records in flight" times=${times} format=${(value) => number(Math.round(value))} series=${[{ name: 'in flight', values: values((reading) => sum(reading, 'kafkastub_share_records_in_flight')) }]} />` : null}
    ${sum(last, 'kafkastub_faults_fired_total') ? counter('Faults fired', 'kafkastub_faults_fired_total') : null}
  </div>`;
}

/** How much it has grown since the oldest reading that is kept. */
const recent = (figure) => (readings.length < 2 ? figure(readings.at(-1)) : Math.max(0, figure(readings.at(-1)) - figure(readings[0])));

function Apis({ last }) {
  const names = [...new Set((last.metrics.get('kafkastub_requests_total') ?? []).map((one) => one.labels.api))];
  const rows = names.map((api) => {
    const fits = (labels) => labels.api === api;
    const count = sum(last, 'kafkastub_request_duration_seconds_count', fits);
    const errors = new Map();
    for (const { labels, value } of last.metrics.get('kafkastub_request_errors_total') ?? []) {
      if (fits(labels) && labels.error !== 'NONE' && value) errors.set(labels.error, (errors.get(labels.error) ?? 0) + value);
    }
    const versions = new Set((last.metrics.get('kafkastub_requests_total') ?? []).filter((one) => fits(one.labels)).map((one) => one.labels.version));
    return {
      api, versions: [...versions].join(', '), requests: sum(last, 'kafkastub_requests_total', fits), errors,
      mean: count ? sum(last, 'kafkastub_request_duration_seconds_sum', fits) / count : null, most: quantile(last, 0.99, fits),
    };
  }).sort((one, other) => other.requests - one.requests);
  return html`<${Section} title="By API" note="since the start, or the last reset"><${Table} label="By API" rows=${rows} rowKey=${(row) => row.api}
    empty=${html`<${Empty} title="No request has come yet">Point a client at the broker.<//>`}
    columns=${[
      { key: 'api', title: 'API' },
      { key: 'versions', title: 'Versions', narrow: false },
      { key: 'requests', title: 'Requests', align: 'end', render: (row) => number(row.requests) },
      { key: 'mean', title: 'Mean', align: 'end', render: (row) => seconds(row.mean) },
      { key: 'most', title: '99 of 100 within', align: 'end', narrow: false, render: (row) => seconds(row.most) },
      { key: 'errors', title: 'Errors', render: (row) => (row.errors.size ? [...row.errors].map(([error, count]) => html`<div><code>${error}</code> <span class="soft">${number(count)}</span></div>`) : html`<span class="faint">none</span>`) },
    ]} /><//>`;
}
