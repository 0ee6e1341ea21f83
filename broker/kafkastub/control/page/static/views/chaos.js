// Chaos: trouble that every correct client survives, by a seed.
import { del, put } from '../api.js';
import { html } from '../lib.js';
import { useData } from '../parts/data.js';
import { Form, Input, Select, useForm } from '../parts/forms.js';
import { Table } from '../parts/table.js';
import { Badge, Button, Empty, Figures, Loaded, Page, Section, number, toast } from '../parts/ui.js';

const LEVELS = [['1', '1: errors and late answers'], ['2', '2: lost answers and moves, too'], ['3', '3: nodes that stop, too']];

export default function Chaos() {
  const found = useData('/v1/chaos', {}, { subjects: ['chaos'] });
  return html`<${Page} title="Chaos" note="One number decides errors, delays, lost answers and moves that every correct client survives. The same number does the same again.">
    <${Loaded} of=${found}>${(data) => html`<${State} data=${data} reload=${found.reload} />
      <${Section} title="What it has done" note="The last hundred, the newest first">
        <${Table} label="What it has done" rows=${[...data.acts].reverse()} rowKey=${(row) => row.number}
          empty=${html`<div class="card"><${Empty} title="Nothing so far">Start it, and let a client work.<//></div>`}
          columns=${[{ key: 'number', title: '#', align: 'end', render: (row) => number(row.number) }, { key: 'what', title: 'What' }]} /><//>`}<//>
  <//>`;
}

function State({ data, reload }) {
  const form = useForm({ seed: String(data.seed ?? Math.floor(Math.random() * 10_000)), level: String(data.level ?? 1) });
  const start = async () => {
    try {
      await put('/v1/chaos', { seed: Number(form.values.seed), level: Number(form.values.level) });
      await reload();
      toast(`Requests meet what seed ${form.values.seed} decides`, 'warn');
    } catch (error) {
      toast(error.message, 'bad');
    }
  };
  const stop = async () => {
    await del('/v1/chaos');
    await reload();
    toast('Requests meet nothing of it any more');
  };
  return html`<${Figures} items=${[
      { title: 'Now', value: data.running ? html`<${Badge} tone="warn">On<//>` : html`<${Badge}>Off<//>` },
      { title: 'Seed', value: data.seed ?? (data.played === null ? '–' : `${data.played} acts`), note: data.running || data.seed === null ? null : 'the last one' },
      { title: 'Level', value: data.level ?? '–' },
    ]} />
    <div class="card"><${Form} row onSubmit=${start} label="Start chaos">
      <${Input} label="Seed" inputmode="numeric" ...${form.field('seed')} />
      <${Select} label="Level" ...${form.field('level')} options=${LEVELS} />
      <${Button} type="submit" tone="primary" disabled=${!/^\d+$/.test(form.values.seed)}>${data.running ? 'Start anew' : 'Start'}<//>
      ${data.running ? html`<${Button} onClick=${stop}>Stop<//>` : null}
    <//></div>`;
}
