// The broker's clock: what it is, how it is moved, and what would be gone if it were.
import { get, post } from '../api.js';
import { html, useEffect, useState } from '../lib.js';
import { useData } from '../parts/data.js';
import { Check, Form, Input, Select, Toolbar, useForm } from '../parts/forms.js';
import { many } from '../parts/names.js';
import { Table } from '../parts/table.js';
import { Moment, fromNow, iso, momentText, spanText, useClock, useTick, zoned } from '../parts/time.js';
import { Badge, Button, Empty, ErrorNote, Figures, Loaded, Name, Page, Section, number, toast } from '../parts/ui.js';
import { href, setQuery } from '../router.js';

const STEPS = ['1m', '1h', '1d', '7d'];
const KINDS = {
  offsets: ['committed offset', 'Committed offsets'],
  group: ['group', 'Groups'],
  records: ['record', 'Records'],
  producer: ['producer', 'Producers'],
  transactional_id: ['transactional id', 'Transactional ids'],
  delegation_token: ['delegation token', 'Delegation tokens'],
};
const SUBJECTS = ['clock', 'groups', 'topics', 'transactions'];
const MOST = 200;

export default function Clock({ query }) {
  const clock = useClock();
  useTick(clock.known && !clock.frozen && !clock.lost, 1000);
  return html`<${Page} title="Clock" note="Broker time stamps records and commits, and drives every retention. Sessions, rebalances and long polls run on another clock.">
    <${ErrorNote} error=${clock.error} />
    ${clock.known ? html`<div class="columns"><${Now} clock=${clock} /><${Move} clock=${clock} query=${query} /></div>` : null}
    <${Forecast} clock=${clock} query=${query} />
  <//>`;
}

async function moved(clock, what) {
  await clock.reload();
  toast(what);
}

function Now({ clock }) {
  const now = clock.now();
  const turn = async () => {
    await post(`/v1/clock/${clock.frozen ? 'unfreeze' : 'freeze'}`);
    await moved(clock, clock.frozen ? 'Broker time goes on' : 'Broker time stands still');
  };
  const away = now - Date.now();
  return html`<${Section} title="Now"><div class="card stack">
    <div class="row"><time class="clock-big num" datetime=${iso(now)}>${momentText(now)}</time><span class="soft">UTC</span>
      ${clock.frozen ? html`<${Badge} tone="info">Frozen<//>` : html`<${Badge} tone="good">Goes on<//>`}</div>
    <p class="soft">${Math.abs(away) < 2000 ? 'As on this machine.' : `${fromNow(now, Date.now()).replace(' ago', ' behind').replace(/^in (.*)/, '$1 ahead of')} this machine${away < 0 ? "'s clock" : "'s clock"}.`}</p>
    <div class="row"><${Button} tone="primary" onClick=${turn}>${clock.frozen ? 'Unfreeze' : 'Freeze'}<//></div>
  </div><//>`;
}

function Move({ clock, query }) {
  const form = useForm({ by: query.by ?? '', timers: false, to: '' });
  const { by, timers, to } = form.values;
  const preview = usePreview(by);
  const isWrong = preview.asked === by.trim() && preview.refused;
  const advance = async (step) => {
    const { now } = await post('/v1/clock/advance', { by: step, timers });
    await moved(clock, `It is ${momentText(Date.parse(now))} now`);
  };
  const press = (work) => async () => {
    try {
      await work();
    } catch (error) {
      toast(error.message, 'bad');
    }
  };
  const set = async () => {
    const { now } = await post('/v1/clock/set', { to: /^\d+$/.test(to.trim()) ? Number(to) : zoned(to.trim()) });
    await moved(clock, `It is ${momentText(Date.parse(now))} now`);
  };
  return html`<${Section} title="Move it"><div class="card stack">
    <div class="steps" role="group" aria-label="Steps">${STEPS.map((step) => html`<${Button} onClick=${() => advance(step)} label=${`Advance by ${step}`}>+ ${step}<//>`)}</div>
    <${Form} row onSubmit=${press(() => advance(by))} label="Advance">
      <${Input} label="Advance by" placeholder="1h30m" grow ...${form.field('by')} />
      <${Button} type="submit" tone="primary" disabled=${!by.trim() || isWrong}>Advance<//>
    <//>
    ${preview.shown}
    <${Check} label="Sessions and timeouts age as much" ...${form.field('timers')} />
    <${Form} row onSubmit=${press(set)} label="Set">
      <${Input} label="Set to" placeholder="2030-01-01T00:00:00Z" grow ...${form.field('to')} />
      <${Button} type="submit" disabled=${!to.trim()}>Set<//>
    <//>
    <p class="faint">It goes back only while there are no groups and records.</p>
  </div><//>`;
}

/** What a step would take away, before it is made: {shown, asked, refused}. */
function usePreview(by) {
  const [asked, setAsked] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setAsked(by.trim()), 250);
    return () => clearTimeout(timer);
  }, [by]);
  const found = useData(asked ? '/v1/clock/forecast' : null, { within: asked, limit: 1 }, { subjects: ['clock', 'groups'] });
  const told = (shown, refused = false) => ({ shown, asked, refused });
  if (!asked) return told(null);
  if (found.error) {
    const refused = found.error.status === 400;
    return told(html`<p class="hint bad" role="status">${refused ? 'This is no length of time that can be gone: write 90s, 1h30m, 7d or the like.' : found.error.message}</p>`, refused);
  }
  if (!found.data) return told(html`<p class="hint">…</p>`);
  const { counts, until_ms: until } = found.data.horizons[0];
  return told(html`<p class="hint" role="status">At ${momentText(until)}, ${sum(counts) ? html`<b>${countsText(counts)}</b> would be gone.` : 'nothing would be gone.'}</p>`);
}

const sum = (counts) => Object.values(counts).reduce((all, one) => all + one, 0);
const countsText = (counts) => Object.entries(counts).filter(([, count]) => count)
  .map(([kind, count]) => many(count, KINDS[kind][0])).join(', ');

function Forecast({ clock, query }) {
  const within = query.within || '30d';
  const found = useData('/v1/clock/forecast', { within: [...new Set(['1h', '1d', '7d', within])], kind: query.kind, group: query.group, limit: MOST }, { subjects: SUBJECTS });
  const jump = async (row) => {
    const { now_ms: now } = await get('/v1/clock');
    await post('/v1/clock/advance', { milliseconds: Math.max(0, row.at_ms - now) });
    await moved(clock, `It is ${momentText(row.at_ms)}: ${row.what} ${row.count === 1 ? 'is' : 'are'} gone`);
    await found.reload();
  };
  const isFiltered = query.kind || query.group;
  return html`<${Section} title="What expires next" note="If nobody does anything and broker time goes on"
    actions=${html`<${Toolbar}>
      <${Select} label="What" hideLabel value=${query.kind ?? ''} onValue=${(kind) => setQuery({ kind })} options=${[['', 'Everything'], ...Object.entries(KINDS).map(([kind, [, title]]) => [kind, title])]} />
      <${Select} label="How far" hideLabel value=${within} onValue=${(value) => setQuery({ within: value === '30d' ? null : value })} options=${[['1d', 'Within a day'], ['7d', 'Within 7 days'], ['30d', 'Within 30 days'], ['365d', 'Within a year']]} />
      ${query.group ? html`<${Button} tone="plain" onClick=${() => setQuery({ group: null })}>Only group ${query.group} ✕<//>` : null}<//>`}>
    <${Loaded} of=${found}>${(data) => html`
      <${Figures} items=${data.horizons.map((one) => ({
        title: `In the next ${TITLES[one.within] ?? one.within}`, value: number(sum(one.counts)), note: countsText(one.counts) || 'nothing goes', tone: sum(one.counts) ? 'warn' : undefined,
      }))} />
      <${Table} label="What expires next" rows=${data.due} rowKey=${(row) => row.what + row.at_ms}
        empty=${html`<div class="card"><${Empty} title="Nothing expires">${isFiltered ? 'Nothing of what is chosen goes' : 'Nothing goes'} within ${within}: offsets stay while their groups subscribe to the topics, records without retention.ms for ever.<//></div>`}
        columns=${[
          { key: 'at_ms', title: 'When', render: (row) => html`<${Moment} ms=${row.at_ms} /><br /><span class="soft">${clock.known ? (row.at_ms <= clock.now() ? due(row, data) : fromNow(row.at_ms, clock.now())) : ''}</span>` },
          { key: 'what', title: 'What', render: (row) => html`<${What} row=${row} />` },
          { key: 'why', title: 'Why', narrow: false, render: (row) => html`<span class="soft">${row.why}</span>` },
          { key: 'go', title: html`<span class="unseen">Actions</span>`, align: 'end', render: (row) => html`<${Button} tone="small" onClick=${() => jump(row)} label=${`Advance to it: ${row.what}`}>Advance to it<//>` },
        ]} />
      ${data.total > data.due.length ? html`<p class="faint">and ${number(data.total - data.due.length)} more</p>` : null}`}<//>
  <//>`;
}

/** What is due goes when it is looked for, and that is not the moment itself. */
function due({ kind }, data) {
  const round = { offsets: data.sweep_in_ms, group: data.sweep_in_ms, records: data.clean_in_ms }[kind];
  return round === null || round === undefined ? 'due: goes with the next round' : `due: goes with the next sweep, in ${spanText(round)}`;
}

const TITLES = { '1h': 'hour', '1d': 'day', '7d': '7 days', '30d': '30 days', '365d': 'year' };

function What({ row }) {
  const text = html`<${Name}>${row.what}<//>`;
  if (row.group !== null) return html`<a href=${href('groups', row.group, 'partitions')} class="name">${text}</a>`;
  if (row.transactional_id !== null) return html`<a href=${href('transactions', row.transactional_id)}>${text}</a>`;
  if (row.topic !== null) return html`<a href=${href('topics', row.topic)}>${text}</a>`;
  return text;
}
