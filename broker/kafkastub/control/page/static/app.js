// The page begins here: the address says which view is shown.
import { takeTokenFromAddress } from './api.js';
import { html, render, useEffect, useErrorBoundary, useState } from './lib.js';
import { useWaiting } from './parts/ready.js';
import { useRefused } from './parts/refused.js';
import { ErrorNote, Loading, Page } from './parts/ui.js';
import { Shell } from './parts/shell.js';
import { go, href, usePlace } from './router.js';
import { load, views } from './views/index.js';

const loaded = new Map();

function App() {
  const { path, query } = usePlace();
  const [name = 'overview', ...rest] = path;
  const known = views.find((view) => view.id === name);
  return html`<${Shell} current=${name}>
    ${known ? html`<${View} key=${name} view=${known} path=${rest} query=${query} />` : html`<${Page} title="Not found">
      <p>There is no view ${name}. <a href=${href('overview')}>Go to the overview</a>.</p><//>`}
  <//>`;
}

/** One view. What fails in it is shown in its place, and the rest of the page goes on. */
function View({ view, path, query }) {
  const [error, again] = useErrorBoundary();
  const [module, setModule] = useState({ component: loaded.get(view.id) ?? null, failed: null });
  useEffect(() => {
    if (module.component) return;
    load(view.id).then(
      (found) => {
        loaded.set(view.id, found.default);
        setModule({ component: found.default, failed: null });
      },
      (failed) => setModule({ component: null, failed }),
    );
  }, [view.id]);
  const refused = useRefused(view.id);
  useWaiting(!module.component && !module.failed);
  if (refused) return html`<${Page} title=${view.title}><p>${refused}</p><//>`;
  if (error || module.failed) {
    return html`<${Page} title=${view.title}><${ErrorNote} error=${{ message: `This view has failed: ${(error ?? module.failed).message}` }}
      onRetry=${() => (error ? again() : location.reload())} /><//>`;
  }
  if (!module.component) return html`<${Loading} />`;
  return html`<${module.component} path=${path} query=${query} />`;
}

takeTokenFromAddress();
addEventListener('hashchange', takeTokenFromAddress); // before the view is asked for
if (location.hash === '' || location.hash === '#') {
  go(href(location.pathname.endsWith('/docs') ? 'docs' : 'overview'), { replace: true });
}
const root = document.querySelector('#app');
root.replaceChildren();
render(html`<${App} />`, root);
