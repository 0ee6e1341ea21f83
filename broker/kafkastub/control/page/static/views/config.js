// The broker's configuration, with where each value comes from.
import { html } from '../lib.js';
import { ConfigTable } from '../parts/configs.js';
import { useData } from '../parts/data.js';
import { Badge, KeyValues, Page } from '../parts/ui.js';

export default function Config({ query }) {
  const config = useData('/v1/config', {}, { subjects: ['config'], quiet: true });
  const { data } = config;
  return html`<${Page} title="Configuration">
    ${data ? html`<${KeyValues} items=${[
      ['kafkastub', data.version],
      ['Profile', html`${data.profile} <span class="faint">${data.profile === 'kips' ? 'the KIPs to the letter' : 'released Apache Kafka to the letter'}</span>`],
      ['Answers as', data.kafkastub['kafkastub.as.version'] && data.kafkastub['kafkastub.as.version'] !== 'None' ? `Apache Kafka ${data.kafkastub['kafkastub.as.version']}` : 'Apache Kafka 4.4.0'],
      ['Set at the start, or since', Object.keys(data.set).length ? html`<${Badge} tone="info">${Object.keys(data.set).length}<//>` : 'nothing'],
    ]} />` : null}
    <${ConfigTable} params=${{}} query=${query} />
  <//>`;
}
