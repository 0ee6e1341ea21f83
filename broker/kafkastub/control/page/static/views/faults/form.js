// A new fault by a form: which requests, what happens, how long. What it says stands below as the command takes it.
import { post } from '../../api.js';
import { html, useState } from '../../lib.js';
import { useData } from '../../parts/data.js';
import { Form, Input, Select, useForm } from '../../parts/forms.js';
import { Button, ErrorNote, Section, confirm, toast } from '../../parts/ui.js';

const ACTIONS = [
  ['error', 'Answer with an error'],
  ['delay', 'Wait before it is worked on'],
  ['hold_before', 'Hold the request until it is released'],
  ['hold_after', 'Hold the answer until it is released'],
  ['drop_before', 'Close the connection, work not done'],
  ['drop_after', 'Do the work, then close the connection'],
  ['silent', 'Do the work, answer nothing'],
  ['cut', 'Send a part of the answer, then close'],
  ['throttle', 'Say a throttle time in the answer'],
];
const EMPTY = {
  api: '', client_id: '', group: '', topic: '', partition: '', transactional_id: '', node: '', versions: '',
  action: 'error', error: 'NOT_COORDINATOR', amount: '500', times: '', every: '', after: '', share: '', until: '', name: '',
};
const NUMBERS = ['partition', 'node', 'times', 'every', 'after', 'share', 'until'];
const TEXTS = ['client_id', 'group', 'topic', 'transactional_id', 'versions', 'name'];

export function NewFault({ query, reload }) {
  const said = Object.fromEntries(Object.keys(EMPTY).filter((name) => query[name]).map((name) => [name, query[name]]));
  const form = useForm({ ...EMPTY, ...said });
  const protocol = useData('/v1/protocol');
  const [error, setError] = useState(null);
  const [more, setMore] = useState(Boolean(said.transactional_id || said.node || said.versions));
  const { values } = form;
  const rule = ruleOf(values);
  const add = async () => {
    setError(null);
    if (!await meant(values, rule)) return;
    try {
      const { id } = await post('/v1/faults', rule);
      await reload();
      toast(`Fault ${id} is there`);
      form.set(EMPTY);
    } catch (failed) {
      setError(failed);
    }
  };
  const apis = protocol.data?.apis.map((api) => api.name).sort() ?? [];
  const errors = protocol.data?.errors.filter((one) => one.code !== 0).map((one) => one.name) ?? [values.error];
  return html`<${Section} title="Add a fault"><div class="card"><${Form} onSubmit=${add} label="Add a fault">
    <fieldset class="plain-set"><legend>Which requests</legend><div class="form-row">
      <${Select} label="API" ...${form.field('api')} options=${[['', 'All'], ...(apis.length ? apis : [values.api].filter(Boolean))]} />
      <${Input} label="Client id" placeholder="payments-*" ...${form.field('client_id')} />
      <${Input} label="Group" ...${form.field('group')} />
      <${Input} label="Topic" ...${form.field('topic')} />
      <${Input} label="Partition" inputmode="numeric" size="5" ...${form.field('partition')} />
      ${more ? html`<${Input} label="Transactional id" ...${form.field('transactional_id')} />
        <${Input} label="Node" inputmode="numeric" size="5" ...${form.field('node')} />
        <${Input} label="Versions" placeholder="3-9" size="6" ...${form.field('versions')} />`
      : html`<${Button} tone="plain" onClick=${() => setMore(true)}>More<//>`}
    </div></fieldset>
    <fieldset class="plain-set"><legend>What happens</legend><div class="form-row">
      <${Select} label="What" ...${form.field('action')} options=${ACTIONS} />
      ${values.action === 'error' ? html`<${Select} label="Error" ...${form.field('error')} options=${errors} />` : null}
      ${{ delay: 'Milliseconds', throttle: 'Milliseconds', cut: 'Bytes' }[values.action] ? html`<${Input} label=${{ cut: 'Bytes' }[values.action] ?? 'Milliseconds'} inputmode="numeric" size="8" ...${form.field('amount')} />` : null}
    </div></fieldset>
    <fieldset class="plain-set"><legend>How often</legend><div class="form-row">
      <${Input} label="Times" placeholder="without end" inputmode="numeric" size="9" ...${form.field('times')} />
      <${Input} label="Not the first" placeholder="0" inputmode="numeric" size="9" ...${form.field('after')} />
      <${Input} label="Every Nth" placeholder="1" inputmode="numeric" size="9" ...${form.field('every')} />
      <${Input} label="Share (0 to 1)" placeholder="1" inputmode="decimal" size="9" ...${form.field('share')} />
      <${Input} label="For seconds" placeholder="without end" inputmode="decimal" size="9" ...${form.field('until')} />
      <${Input} label="Name" placeholder="fault-1" ...${form.field('name')} />
    </div></fieldset>
    <p class="soft">As a command: <code>kafkastub faults add ${commandText(rule)}</code></p>
    <${ErrorNote} error=${error} />
    <div class="row"><${Button} type="submit" tone="primary">Add fault<//></div>
  <//></div><//>`;
}

/** An error for every API stops clients altogether, and many of them end by it: that is asked first. */
async function meant(values, rule) {
  if (values.action !== 'error' || values.api) return true;
  return confirm({
    title: `Answer every API with ${rule.error}?`, yes: 'Add fault', tone: 'danger',
    text: 'No API is chosen: Metadata, heartbeats and everything else that fits gets this error, and most clients take it for the end.',
  });
}

/** The rule that the form says, as the route takes it. What is no number is sent as it is: the refusal says why. */
function ruleOf(values) {
  const rule = {};
  if (values.api) rule.api = values.api;
  for (const name of TEXTS) if (values[name].trim()) rule[name] = values[name].trim();
  for (const name of NUMBERS) if (String(values[name]).trim()) rule[name] = numberOf(values[name]);
  const amount = numberOf(values.amount);
  Object.assign(rule, {
    error: { error: values.error }, delay: { delay_ms: amount }, hold_before: { hold: 'before' }, hold_after: { hold: 'after' },
    drop_before: { drop: 'before' }, drop_after: { drop: 'after' }, silent: { silent: true }, cut: { cut: amount }, throttle: { throttle_time_ms: amount },
  }[values.action]);
  return rule;
}

function numberOf(text) {
  const number = Number(text);
  return String(text).trim() === '' || Number.isNaN(number) ? text : number;
}

const commandText = (rule) => Object.entries(rule).map(([name, value]) => `${name}=${/\s/.test(String(value)) ? `'${value}'` : value}`).join(' ');
