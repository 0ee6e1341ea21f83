// The views, in the order of the navigation. Each is loaded when it is first gone to.
export const sections = [
  { title: null, views: [
    { id: 'overview', title: 'Overview', key: 'o' },
  ] },
  { title: 'Data', views: [
    { id: 'topics', title: 'Topics', key: 't', count: (summary) => summary.topics },
    { id: 'groups', title: 'Groups', key: 'g', count: (summary) => summary.groups },
    { id: 'transactions', title: 'Transactions', key: 'x', count: (summary) => summary.transactions },
  ] },
  { title: 'Watch', views: [
    { id: 'journal', title: 'Journal', key: 'j' },
    { id: 'check', title: 'Guarantees', key: 'v' },
    { id: 'metrics', title: 'Metrics', key: 'm' },
  ] },
  { title: 'Steer', views: [
    { id: 'clock', title: 'Clock', key: 'c' },
    { id: 'faults', title: 'Faults and holds', key: 'f', count: (summary) => summary.faults || undefined, tone: (summary) => (summary.faults > summary.faults_spent ? 'warn' : '') },
    { id: 'chaos', title: 'Chaos', key: 'h' },
    { id: 'snapshots', title: 'Snapshots', key: 's', count: (summary) => summary.snapshots || undefined },
  ] },
  { title: 'Broker', views: [
    { id: 'nodes', title: 'Nodes', key: 'n', count: (summary) => summary.nodes },
    { id: 'config', title: 'Configuration', key: 'k' },
    { id: 'quotas', title: 'Quotas', key: 'q' },
    { id: 'acls', title: 'ACLs', key: 'a' },
    { id: 'docs', title: 'HTTP API', key: 'd' },
  ] },
];

export const views = sections.flatMap((section) => section.views);

export const load = (id) => import(`./${id}.js`);
