// Not there yet.
import { html } from '../lib.js';
import { Empty, Page } from '../parts/ui.js';

export default function View() {
  return html`<${Page} title="config"><${Empty} title="Not there yet" /><//>`;
}
