// What can be asked of the control port, from its own description; questions that change nothing can be tried here.
import { address, getText } from '../api.js';
import { html, useMemo, useState } from '../lib.js';
import { Json } from '../parts/content.js';
import { useData } from '../parts/data.js';
import { Form, Input, Search, Toolbar } from '../parts/forms.js';
import { Badge, Button, Code, Copy, Empty, ErrorNote, LinkButton, Loaded, Page, Section } from '../parts/ui.js';
import { href, setQuery } from '../router.js';

const TONES = { GET: 'info', POST: 'good', PUT: 'warn', DELETE: 'bad' };
const MOST_SHOWN = 65_536;

export default function Docs({ path, query }) {
  const description = useData('/openapi.json');
  return html`<${Page} title="HTTP API" actions=${html`<${LinkButton} href="openapi.json">openapi.json<//>`}
    note="All that this page shows and does, any program can ask for as JSON.">
    <${Loaded} of=${description}>${(api) => html`<${Operations} api=${api} open=${path[0]} search=${query.search ?? ''} />`}<//>
  <//>`;
}

function operationsOf(api) {
  return Object.entries(api.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({
    id: `${method.toUpperCase()} ${path}`, method: method.toUpperCase(), path, tag: operation.tags?.[0] ?? 'other', ...operation,
  })));
}

function Operations({ api, open, search }) {
  const all = useMemo(() => operationsOf(api), [api]);
  const wanted = search.toLowerCase();
  const found = all.filter((each) => `${each.id} ${each.summary}`.toLowerCase().includes(wanted));
  const tags = [...new Set(found.map((each) => each.tag))];
  const one = all.find((each) => each.id === open);
  return html`<${Toolbar}><${Search} label="Search the API" value=${search} onValue=${(value) => setQuery({ search: value })} /><span class="soft">${found.length} of ${all.length}</span><//>
    <div class=${`split ${one ? 'open' : ''}`}>
      <div class="operations" tabindex="0" role="group" aria-label="Requests">
        ${tags.map((tag) => html`<${Section} title=${tag[0].toUpperCase() + tag.slice(1)}><ul class="list card">${found.filter((each) => each.tag === tag).map((each) => html`<li>
          <a class="list-item" href=${href('docs', each.id, { search })} aria-current=${each.id === open ? 'true' : undefined}>
            <span class="method"><${Badge} tone=${TONES[each.method]}>${each.method}<//></span><span class="list-text"><span class="mono">${each.path}</span><span class="list-why">${each.summary}</span></span></a></li>`)}</ul><//>`)}
        ${found.length ? null : html`<${Empty} title="Nothing has this in its path or summary" />`}
      </div>
      ${one ? html`<${Operation} key=${one.id} api=${api} operation=${one} />` : null}
    </div>`;
}

const resolve = (api, schema) => (schema?.$ref ? api.components.schemas[schema.$ref.split('/').at(-1)] : schema);

/** The example that the description has of a body or an answer. */
function exampleOf(api, content) {
  const media = content && Object.values(content)[0];
  if (!media) return null;
  const schema = resolve(api, media.schema);
  return media.example ?? schema?.examples?.[0] ?? null;
}

function typeOf(api, schema) {
  if (!schema) return '';
  if (schema.$ref) return schema.$ref.split('/').at(-1);
  if (schema.anyOf) return schema.anyOf.map((each) => typeOf(api, each)).join(' or ');
  if (schema.enum) return schema.enum.map((each) => JSON.stringify(each)).join(', ');
  return schema.type === 'array' ? `${typeOf(api, schema.items)}, several` : schema.type ?? '';
}

function Operation({ api, operation }) {
  const body = operation.requestBody?.content;
  const fields = resolve(api, body && Object.values(body)[0]?.schema);
  const bodyExample = exampleOf(api, body);
  const answers = Object.entries(operation.responses ?? {}).filter(([status]) => /^\d+$/.test(status));
  const curl = ['curl', operation.method === 'GET' ? '' : `-X ${operation.method}`, `'${location.origin}${operation.path}'`, bodyExample ? `-d '${JSON.stringify(bodyExample)}'` : ''].filter(Boolean).join(' ');
  return html`<aside class="detail" aria-label=${operation.id} tabindex="0">
    <div class="detail-head"><h2><${Badge} tone=${TONES[operation.method]}>${operation.method}<//> <span class="mono">${operation.path}</span></h2>
      <a class="button plain small" href=${href('docs')} aria-label="Close">✕</a></div>
    <div class="detail-body"><p>${operation.summary}</p>
      ${operation.description ? html`<p class="soft">${operation.description}</p>` : null}
      ${operation.parameters?.length ? html`<${Section} title="Parameters"><${Fields} api=${api} rows=${operation.parameters.map((each) => ({ ...each, description: each.description ?? each.schema?.description, default: each.schema?.default }))} /><//>` : null}
      ${fields?.properties ? html`<${Section} title="Body"><${Fields} api=${api} rows=${Object.entries(fields.properties).map(([name, schema]) => ({
        name, schema, description: schema.description, default: schema.default, required: fields.required?.includes(name) }))} /><//>` : null}
      <${Section} title="With curl" actions=${html`<${Copy} text=${curl} />`}><${Code}>${curl}<//><//>
      ${answers.map(([status, answer]) => {
        const example = exampleOf(api, answer.content);
        return example === null ? null : html`<${Section} title=${`Answer ${status}`} note=${answer.description === 'Successful Response' ? null : answer.description}>${
          typeof example === 'string' ? html`<${Code}>${example}<//>` : html`<${Json} value=${example} />`}<//>`;
      })}
      ${operation.method === 'GET' && !/follow|events|wait|export|file$|\{part\}/.test(operation.path) ? html`<${Try} operation=${operation} />` : null}
    </div>
  </aside>`;
}

const Fields = ({ api, rows }) => html`<div class="table-frame" tabindex="0" role="group" aria-label="Fields"><table><tbody>${rows.map((row) => html`<tr>
  <td class="mono field-name">${row.name}${row.required ? html`<span class="bad" title="it has to be given">*</span>` : null}</td>
  <td><span class="soft">${typeOf(api, row.schema)}</span>${row.default === undefined || row.default === null ? null : html` <span class="faint">default ${JSON.stringify(row.default)}</span>`}
    ${row.description ? html`<div>${row.description}</div>` : null}</td></tr>`)}</tbody></table></div>`;

/** Ask it. */
function Try({ operation }) {
  const [values, setValues] = useState({});
  const [answer, setAnswer] = useState(null);
  const [error, setError] = useState(null);
  const parameters = operation.parameters ?? [];
  const path = parameters.filter((each) => each.in === 'path').reduce((so, each) => so.replace(`{${each.name}}`, encodeURIComponent(values[each.name] ?? '')), operation.path);
  const params = Object.fromEntries(parameters.filter((each) => each.in === 'query' && values[each.name]).map((each) => [each.name, values[each.name]]));
  const ask = async () => {
    try {
      setAnswer(await getText(path, params));
      setError(null);
    } catch (problem) {
      setError(problem);
      setAnswer(null);
    }
  };
  const complete = parameters.every((each) => each.in !== 'path' || values[each.name]);
  return html`<${Section} title="Try it"><${Form} onSubmit=${ask}>
    ${parameters.length ? html`<div class="form-row">${parameters.map((each) => html`<${Input} key=${each.name} label=${each.name} grow=${true} value=${values[each.name] ?? ''}
      onValue=${(value) => setValues({ ...values, [each.name]: value })} />`)}</div>` : null}
    <div class="row"><${Button} tone="primary" type="submit" disabled=${!complete}>Ask<//><code class="soft">${complete ? address(path, params).pathname + address(path, params).search : ''}</code></div><//>
    <${ErrorNote} error=${error} />
    ${answer === null ? null : html`<${Answer} text=${answer} />`}<//>`;
}

function Answer({ text }) {
  const shown = useMemo(() => {
    if (text.length > MOST_SHOWN) return null;
    try {
      return JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      return null;
    }
  }, [text]);
  return shown === null ? html`<${Code}>${text.slice(0, MOST_SHOWN)}${text.length > MOST_SHOWN ? ' …' : ''}<//>` : html`<${Json} text=${shown} />`;
}
