// The records of a topic: by partition and offset, from a time on, looked for, live; and one of them in full.
import { Raw, download, get, post } from '../api.js';
import { html, useEffect, useRef, useState } from '../lib.js';
import { Content, Json, Told, preview, toldText } from '../parts/content.js';
import { useData } from '../parts/data.js';
import { Choice, Form, Input, Search, Select, TextArea, Toolbar, useForm } from '../parts/forms.js';
import { at, many, pairs } from '../parts/names.js';
import { VirtualTable } from '../parts/table.js';
import { Moment, momentText, zoned } from '../parts/time.js';
import {
  Badge, Button, Dialog, Empty, ErrorNote, KeyValues, Loaded, Name, bytesText, number, toast,
} from '../parts/ui.js';
import { setQuery } from '../router.js';

const CUT = 400; // bytes of a key or value in a list
const WHOLE = 65_536; // of one record
const NEWEST = 100; // of each partition, where all are shown together
const MOST_PARTITIONS = 20; // that are shown together
const MOST_FOUND = 500;

export function Records({ topic, query }) {
  const only = topic.partitions === 1;
  const [jump, setJump] = useState(0);
  const partition = query.partition ?? (only ? '0' : 'all');
  const listed = topic.partition_list.filter((each) => each.log_end_offset > each.log_start_offset);
  const open = query.at ? query.at.split('-').map(Number)
    : query.offset !== undefined && partition !== 'all' ? [Number(partition), Number(query.offset)] : null;
  const partitions = Array.from({ length: Math.min(topic.partitions, 1000) }, (_, index) => [String(index), `Partition ${index}`]);
  return html`<${Toolbar}>
      <${Select} label="Partition" hideLabel=${true} value=${partition} options=${[...(only ? [] : [['all', 'All partitions']]), ...partitions]}
        onValue=${(value) => setQuery({ partition: value, offset: null, at: null, order: null })} />
      <${Search} label="Search in keys, values and headers" placeholder="Search in keys, values, headers" value=${query.search} onValue=${(search) => setQuery({ search })} wait=${400} />
      ${partition === 'all' ? null : html`<${GoTo} topic=${topic} partition=${Number(partition)} onJump=${() => setJump((one) => one + 1)} />
        <${Choice} label="Order" value=${query.order ?? 'newest'} options=${[['newest', 'Newest first'], ['oldest', 'Oldest first']]}
          onValue=${(value) => setQuery({ order: value === 'newest' ? null : value, offset: null })} />`}
    <//>
    <div class=${`split ${open ? 'open' : ''}`}>
      <div>${query.search ? html`<${Found} topic=${topic} partition=${partition} text=${query.search} query=${query} />`
        : partition === 'all' ? html`<${Together} topic=${topic} listed=${listed} query=${query} />`
          : html`<${OfPartition} key=${`${partition} ${query.order}`} topic=${topic} partition=${Number(partition)} query=${query} jump=${jump} />`}</div>
      ${open ? html`<${Detail} key=${open.join('-')} topic=${topic} partition=${open[0]} offset=${open[1]} query=${query} />` : null}
    </div>`;
}

const COLUMNS = (withPartition, sought = '') => [
  ...(withPartition ? [{ key: 'partition', title: 'Partition', width: '62px' }] : []),
  { key: 'offset', title: 'Offset', width: '76px', render: (row) => number(row.offset) },
  { key: 'timestamp', title: 'Time (UTC)', width: '150px', narrow: false, render: (row) => (row.gap ? '' : html`<time title=${row.timestamp}>${momentText(row.timestamp_ms)}</time>`) },
  { key: 'key', title: 'Key', width: 'minmax(60px, 1fr)', render: (row) => (row.gap ? '' : cell(row, 'key', sought)) },
  { key: 'value', title: 'Value', width: 'minmax(100px, 4fr)', render: (row) => (row.gap
    ? html`<span class="faint">no record: a transaction's marker, or compacted away</span>` : cell(row, 'value', sought)) },
  { key: 'headers', title: 'Headers', width: '68px', align: 'end', narrow: false, render: (row) => (row.gap || !row.headers.length ? '' : number(row.headers.length)) },
  { key: 'size', title: 'Size', width: '70px', align: 'end', narrow: false, render: (row) => (row.gap ? '' : bytesText(Math.max(0, row.key_size) + Math.max(0, row.value_size))) },
];

/** A key or a value in a list: by its schema, where it begins with the id of one. */
function cell(row, part, sought) {
  const told = row[`${part}_by_schema`];
  return told && told.error === null ? html`<span title=${place(told)}>${preview(toldText(told, 400), null, sought)}</span>` : preview(row[part], row[`${part}_size`], sought);
}

const place = (told) => (told.subject === null ? `Schema id ${told.schema_id}` : `${told.type === 'AVRO' ? 'Avro' : told.type === 'JSON' ? 'JSON Schema' : 'Protobuf'}: ${told.subject} version ${told.version}, id ${told.schema_id}`);

const tone = (row) => (row.gap || row.transaction === 'aborted' ? 'faded' : row.transaction === 'open' ? 'warn' : '');

/** All offsets of a partition. Rows stand for offsets, so that any of them can be gone to. */
function OfPartition({ topic, partition, query, jump }) {
  const known = topic.partition_list.find((each) => each.partition === partition);
  const newest = query.order !== 'oldest';
  const [top, setTop] = useState(true);
  const live = useRef({ start: Math.max(0, known?.log_start_offset ?? 0), end: Math.max(0, known?.log_end_offset ?? 0) });
  const [held, setHeld] = useState(null); // the end that is shown, while somebody reads further down
  const end = Math.max(0, known?.log_end_offset ?? live.current.end);
  const start = Math.max(0, known?.log_start_offset ?? live.current.start);
  useEffect(() => { setHeld(newest && !top ? (held ?? end) : null); }, [top, newest]);
  const shownEnd = held ?? end;
  const load = async (index, limit) => {
    const count = Math.min(limit, shownEnd - start - index);
    if (count <= 0) return { rows: [], total: shownEnd - start };
    const first = newest ? shownEnd - index - count : start + index;
    const rows = Array.from({ length: count }, (_, at) => ({ gap: true, offset: first + at, partition }));
    let from = first;
    while (from < first + count) { // an answer has so many bytes at most
      const page = await get(recordsPath(topic.name), { partition, offset: from, limit: first + count - from, cut: CUT, decoded: true });
      for (const record of page.records) if (record.offset < first + count) rows[record.offset - first] = record;
      if (page.next <= from) break;
      from = page.next;
    }
    return { rows: newest ? rows.reverse() : rows, total: shownEnd - start };
  };
  const wanted = query.offset === undefined ? 0 : Math.max(0, newest ? shownEnd - 1 - Number(query.offset) : Number(query.offset) - start);
  const first = useRef(wanted).current;
  return html`${held !== null && end > held ? html`<div class="newer"><${Button} tone="small" onClick=${() => setHeld(null)}>Show ${number(end - held)} newer<//></div>` : null}
    <${VirtualTable} label=${`Records of partition ${partition}`} load=${load} version=${`${start} ${shownEnd} ${known?.last_stable_offset}`}
      source=${`${topic.topic_id} ${partition} ${query.order ?? ''} ${jump}`} start=${jump ? wanted : first} onTop=${setTop}
      rowTone=${tone} selected=${(row) => String(row.offset) === query.offset}
      onOpen=${(row) => setQuery({ offset: row.offset, partition })}
      empty=${html`<${Empty} title="There are no records in this partition">${end > 0 ? `It begins and ends at offset ${number(end)}: what was in it has been deleted.` : 'Nothing was ever written to it.'}<//>`}
      columns=${COLUMNS(false)} />`;
}

const recordsPath = (name) => `/v1/topics/${at(name)}/records`;

/** The newest of all partitions, by their timestamps. */
function Together({ topic, listed, query }) {
  const shown = listed.slice(0, MOST_PARTITIONS);
  const fetch = async () => {
    const pages = await Promise.all(shown.map((each) => get(recordsPath(topic.name), {
      partition: each.partition, offset: Math.max(each.log_start_offset, each.log_end_offset - NEWEST), limit: NEWEST, cut: CUT, decoded: true,
    })));
    return pages.flatMap((page) => page.records)
      .sort((one, other) => other.timestamp_ms - one.timestamp_ms || one.partition - other.partition || other.offset - one.offset);
  };
  const version = `${topic.topic_id} ${shown.map((each) => [each.log_start_offset, each.log_end_offset, each.last_stable_offset])}`;
  const load = useTogether(fetch, version);
  const more = listed.some((each) => each.log_end_offset - each.log_start_offset > NEWEST) || listed.length > shown.length;
  return html`<${VirtualTable} label="Newest records of all partitions" source=${topic.topic_id} version=${version} load=${load}
    rowTone=${tone} selected=${(row) => `${row.partition}-${row.offset}` === query.at}
    onOpen=${(row) => setQuery({ at: `${row.partition}-${row.offset}` })}
    empty=${html`<${Empty} title="There are no records">Write one here, or let a producer write to ${topic.name}.<//>`}
    columns=${COLUMNS(true)} />
    ${more ? html`<p class="faint foot">The newest ${NEWEST} of each partition${listed.length > shown.length ? `, of the first ${MOST_PARTITIONS} with records` : ''}. Choose a partition to see all of its records.</p>` : null}`;
}

/** Rows that are fetched together, once for each `key`, however many parts of a VirtualTable want them: its `load`. */
function useTogether(fetch, key) {
  const kept = useRef({ rows: null, key: null }).current;
  return async (offset, limit) => {
    if (kept.key !== key) {
      kept.key = key;
      kept.rows = fetch().catch((error) => {
        kept.key = null;
        throw error;
      });
    }
    const rows = await kept.rows;
    return { rows: rows.slice(offset, offset + limit), total: rows.length };
  };
}

/** Go to an offset, or to where the records from a time on begin. */
function GoTo({ topic, partition, onJump }) {
  const [text, setText] = useState('');
  const jump = async () => {
    const said = text.trim();
    let offset = /^\d{1,15}$/.test(said) ? Number(said) : null;
    if (offset === null) {
      try {
        ({ offset } = await get(`/v1/topics/${at(topic.name)}/offset`, { partition, time: zoned(said) }));
      } catch (error) {
        toast(error.message, 'bad');
        return;
      }
    }
    setQuery({ offset });
    onJump();
  };
  return html`<${Form} row=${true} label="Go to" onSubmit=${jump}><${Input} label="Go to an offset or a time" hideLabel=${true} value=${text} onValue=${setText}
    placeholder="Offset, or 2026-03-01 12:00" size="24" /><${Button} type="submit" disabled=${!text.trim()}>Go to<//><//>`;
}

/** Records with a text in them, partition after partition, as they are found. */
function Found({ topic, partition, text, query }) {
  const [state, setState] = useState({ rows: [], looked: 0, done: false, error: null, round: 0 });
  const stop = useRef(null);
  useEffect(() => {
    const aborting = new AbortController();
    stop.current = () => aborting.abort();
    const found = { rows: [], looked: 0, done: false, error: null, round: 0 };
    const tell = () => setState({ ...found, rows: [...found.rows] });
    const look = async () => {
      const partitions = partition === 'all' ? Array.from({ length: topic.partitions }, (_, index) => index) : [Number(partition)];
      for (const index of partitions) {
        for (let offset = 0, end = 1; offset < end && found.rows.length < MOST_FOUND;) {
          const page = await get(`/v1/topics/${at(topic.name)}/search`, { text, partition: index, offset, limit: 100 }, { signal: aborting.signal });
          found.rows.push(...page.records);
          found.looked += page.looked;
          found.round += 1;
          ({ next: offset, end } = page);
          tell();
        }
      }
    };
    setState({ ...found });
    look().catch((error) => { if (error.name !== 'AbortError') found.error = error; }).finally(() => {
      found.done = true;
      tell();
    });
    return () => aborting.abort();
  }, [topic.topic_id, partition, text]);
  const { rows } = state;
  return html`<p class="row found" role="status"><span>${many(rows.length, 'record')} with <b><${Name}>${text}<//></b></span><span class="soft">${number(state.looked)} looked through</span>${state.done ? (rows.length >= MOST_FOUND ? html`<span class="soft">The first ${MOST_FOUND} are shown.</span>` : null)
      : html`<${Button} tone="small" onClick=${() => stop.current?.()}>Stop<//>`}<${Button} tone="small plain" onClick=${() => setQuery({ search: null })}>Clear<//></p>
    <${ErrorNote} error=${state.error} />
    <${VirtualTable} label="Records found" source=${text} version=${`${state.round} ${state.done}`}
      load=${async (offset, limit) => ({ rows: rows.slice(offset, offset + limit), total: rows.length })}
      rowTone=${tone} selected=${(row) => `${row.partition}-${row.offset}` === query.at}
      onOpen=${(row) => setQuery({ at: `${row.partition}-${row.offset}` })}
      empty=${state.done ? html`<${Empty} title="Nothing has this in it">Keys, values and headers were looked through, as bytes; compressed content within them is not seen.<//>` : ''}
      columns=${COLUMNS(partition === 'all', text)} />`;
}

// -- one record --------------------------------------------------------------------------------------------------------

function Detail({ topic, partition, offset, query }) {
  const page = useData(recordsPath(topic.name), { partition, offset, limit: 1, cut: WHOLE, decoded: true });
  const close = () => setQuery({ offset: null, at: null });
  const step = (by) => setQuery(query.at ? { at: `${partition}-${offset + by}` } : { offset: offset + by });
  return html`<aside class="detail" aria-label="Record" tabindex="0">
    <div class="detail-head"><h2>Partition ${partition}, offset ${number(offset)}</h2>
      <div class="actions"><${Button} tone="small" label="Offset before" disabled=${offset <= 0} onClick=${() => step(-1)}>←<//>
        <${Button} tone="small" label="Next offset" disabled=${page.data !== null && offset + 1 >= page.data.end} onClick=${() => step(1)}>→<//>
        <${Button} tone="plain small" label="Close" onClick=${close}>✕<//></div></div>
    <div class="detail-body"><${Loaded} of=${page}>${({ records: [record] }) => (
      record === undefined || record.offset !== offset
        ? html`<${Empty} title="There is no record at this offset">A transaction's marker stands here, or it was compacted away or deleted, or it is not written yet.<//>`
        : html`<${Whole} topic=${topic} record=${record} sought=${query.search ?? ''} />`)}<//></div>
  </aside>`;
}

const TRANSACTION = { committed: 'good', aborted: 'bad', open: 'warn' };

function Whole({ topic, record, sought }) {
  const raw = (part) => `/v1/topics/${at(topic.name)}/partitions/${record.partition}/records/${record.offset}/${part}`;
  const file = (part) => (record[part] === null ? null : html`<${Button} tone="small" label=${`Download the ${part}`}
    onClick=${() => download(raw(part), `${topic.name}-${record.partition}-${record.offset}.${part}`)}>Download<//>`);
  return html`
    <${KeyValues} items=${[
      ['Time', html`<${Moment} ms=${record.timestamp_ms} millis=${true} /> <span class="faint">${record.timestamp_type}</span>`],
      record.producer_id >= 0 && ['Producer', html`${record.producer_id} <span class="faint">epoch ${record.producer_epoch}</span>`],
      record.transaction && ['Transaction', html`<${Badge} tone=${TRANSACTION[record.transaction]}>${record.transaction}<//>`],
    ]} />
    <${Content} title="Key" told=${record.key} size=${record.key_size} actions=${file('key')} sought=${sought} ...${ways(topic, record, 'key')} />
    <${Content} title="Value" told=${record.value} size=${record.value_size} actions=${file('value')} sought=${sought} ...${ways(topic, record, 'value')} />
    <div class="stack"><div class="section-head"><h3>Headers</h3><span class="faint">${number(record.headers.length)}</span></div>
      ${record.headers.length ? html`<div class="table-frame" tabindex="0" role="group" aria-label="Headers"><table><thead><tr><th scope="col">Name</th><th scope="col">Value</th></tr></thead>
        <tbody>${record.headers.map(([name, value]) => html`<tr><td class="mono"><${Name}>${name}<//></td><td class="header-value">${preview(value, null, sought)}</td></tr>`)}</tbody></table></div>` : null}
    </div>`;
}

/** How else a key or a value is shown: by its schema in the registry, or by one that somebody gives. */
function ways(topic, record, part) {
  const told = record[`${part}_by_schema`];
  if (!told) return { more: [{ id: 'avro', title: 'Avro', body: html`<${Avro} topic=${topic} record=${record} part=${part} />` }] };
  const body = html`<p class="faint"><${Name}>${place(told)}<//></p><${Told} told=${told} />`;
  return { more: [{ id: 'schema', title: 'By schema', body }], prefer: told.subject === null ? null : 'schema' };
}

/** By a schema that somebody gives; it is remembered in this browser, by topic. */
function Avro({ topic, record, part }) {
  const place = `kafkastub-avro ${topic.name} ${part}`;
  const [schema, setSchema] = useState(() => remembered(place));
  const [read, setRead] = useState(null);
  const [editing, setEditing] = useState(schema === '');
  const look = async () => {
    try {
      const { records: [one] } = await post(`/v1/topics/${at(topic.name)}/avro`,
        { avro_schema: schema, partition: record.partition, offset: record.offset, limit: 1, part });
      setRead(one);
      setEditing(Boolean(one.error));
      remember(place, schema);
    } catch (error) {
      setRead({ error: error.message });
      setEditing(true);
    }
  };
  useEffect(() => { if (schema) look(); }, []);
  return html`${read?.error ? html`<${ErrorNote} error=${{ message: read.error }} />` : null}
    ${read && !read.error ? html`<${Json} value=${read.content} />${read.schema_id === null ? null : html`<p class="faint">Schema id ${read.schema_id} stands before it, as Confluent's serializers write it.</p>`}` : null}
    ${editing ? html`<${Form} onSubmit=${look}><${TextArea} label="Avro schema" rows=${6} value=${schema} onValue=${setSchema} help="As JSON. It is kept in this browser for this topic." />
      <div class="row"><${Button} tone="primary" type="submit" disabled=${!schema.trim()}>Read by it<//></div><//>`
      : html`<div class="row"><${Button} tone="small" onClick=${() => setEditing(true)}>Change the schema<//></div>`}`;
}

function remembered(place) {
  try {
    return localStorage.getItem(place) ?? '';
  } catch {
    return '';
  }
}

function remember(place, text) {
  try {
    localStorage.setItem(place, text);
  } catch { /* it is forgotten */ }
}

// -- a new record ------------------------------------------------------------------------------------------------------

export function Produce({ topic, onClose }) {
  const form = useForm({ partition: '', key: '', value: '', schema: '', headers: '' });
  const [error, setError] = useState(null);
  const write = async () => {
    const { partition, key, value, schema, headers } = form.values;
    const record = { headers: pairs(headers, ':') };
    if (key !== '') record.key = key;
    if (partition !== '') record.partition = Number(partition);
    try {
      const { records: [place] } = await post(recordsPath(topic.name), written(record, value, schema.trim()));
      toast(`Written to partition ${place.partition} at offset ${place.offset}`);
      onClose();
    } catch (problem) {
      setError(problem);
    }
  };
  const partitions = Array.from({ length: Math.min(1000, topic.partitions) }, (_, index) => [String(index), String(index)]);
  return html`<${Dialog} title=${`Write a record to ${topic.name}`} onClose=${onClose} wide=${true}><${Form} onSubmit=${write}>
    <${ErrorNote} error=${error} />
    <div class="form-row"><${Select} label="Partition" options=${[['', 'as the key decides'], ...partitions]} ...${form.field('partition')} />
      <${Input} label="Key" grow=${true} placeholder="none" ...${form.field('key')} /></div>
    <${TextArea} label="Value" rows=${8} ...${form.field('value')} />
    <${Input} label="Schema" placeholder="none" help=${`A subject of the schema registry, ${topic.name}-value for example: the value is JSON, and is written by its latest schema.`} ...${form.field('schema')} />
    <${TextArea} label="Headers" rows=${2} help="One a line, name: value" ...${form.field('headers')} />
    <div class="dialog-foot"><${Button} onClick=${onClose}>Cancel<//><${Button} tone="primary" type="submit">Write<//></div>
  <//><//>`;
}

/** The body that writes a record. By a schema, the value is JSON as it was typed: a long may have more digits than JavaScript keeps. */
function written(record, value, schema) {
  if (schema === '') return { records: [{ value, ...record }] };
  JSON.parse(value); // says what is wrong with it
  const rest = JSON.stringify(record).slice(1);
  return new Raw(`{"records":[{"value":{"json":${value},"schema":${JSON.stringify(schema)}},${rest}]}`);
}
