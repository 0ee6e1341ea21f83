// What Overview looks for: groups whose members get nothing, or that never came to be; hanging transactions; stopped nodes.
import { get } from '../../api.js';
import { useEffect, useRef, useState } from '../../lib.js';
import { useVersion } from '../../parts/data.js';
import { at, many } from '../../parts/names.js';
import { troubleText } from '../../parts/requests.js';
import { href } from '../../router.js';

const MOST_LISTED = 100; // groups that are asked for
const MOST_ASKED = 6; // groups that are looked into
const SETTLED_MS = 4000; // so long a group has to be behind
const ABSENT_MS = 4000; // between two looks for groups that never came to be
const LOOKED_THROUGH = 2000; // entries of the journal, the newest, that are looked through for these
const ENTRIES = 100; // of them
const MOST_NAMES = 20; // groups of these that are asked for, whether they are there
/** Frequent requests that no group begins with: the broker leaves them out without decoding them. */
const NO_BEGINNING = ['Produce', 'Fetch', 'ListOffsets', 'Metadata', 'ApiVersions', 'OffsetCommit', 'Heartbeat', 'ShareFetch', 'ShareAcknowledge',
  'InitProducerId', 'AddPartitionsToTxn', 'EndTxn'];

const NOTHING = { stopped: [], behind: [], more: 0, unseen: 0, left: [], hanging: [], nodes: { down: [], leaderless: [] } };

/** All of it; `requests` is how many the journal ever had, null where none is kept. */
export function useFindings(requests) {
  return { ...useTroubled(), ...useAbsent(requests) };
}

/** The groups that are behind and have not come nearer for a while: every group that works is behind for moments. */
function settled(since, groups) {
  const now = performance.now();
  const late = new Map(groups.filter((group) => group.lag > 0).map((group) => [group.group, group.lag]));
  for (const name of since.keys()) if (!late.has(name)) since.delete(name);
  for (const [name, lag] of late) {
    const before = since.get(name);
    since.set(name, before && lag >= before.lag ? { at: before.at, lag } : { at: now, lag });
  }
  return new Set([...since].filter(([, each]) => now - each.at >= SETTLED_MS).map(([name]) => name));
}

const item = (group, tone, text) => ({ tone, group, text, href: href('groups', group) });

/** Groups whose members get nothing, by what the broker sees of it; those that are behind; those that nobody reads for. */
function useTroubled() {
  const version = useVersion(['groups', 'topics', 'nodes', 'faults', 'transactions'], 2000);
  const [found, setFound] = useState(NOTHING);
  const lateSince = useRef(new Map()).current;
  useEffect(() => {
    let ended = false;
    let timer = null;
    const look = async () => {
      const [{ groups, total }, { hanging }, { nodes, leaderless }] = await Promise.all([get('/v1/groups', { details: true, limit: MOST_LISTED }), get('/v1/hanging-transactions'), get('/v1/nodes')]);
      const late = groups.filter((group) => group.lag > 0 || group.worst === 'stop' || !['Stable', 'Empty'].includes(group.state))
        .sort((one, other) => (other.worst === 'stop') - (one.worst === 'stop') || (other.lag ?? 0) - (one.lag ?? 0));
      const there = late.filter((group) => group.members > 0);
      const asked = there.slice(0, MOST_ASKED);
      const answers = await Promise.all(asked.map((group) => get(`/v1/groups/${at(group.group)}/findings`).catch(() => ({ findings: [] }))));
      if (ended) return;
      const told = asked.map((group, index) => ({ group, stop: answers[index].findings.find((each) => each.level === 'stop') }));
      const stays = settled(lateSince, groups);
      if (lateSince.size > stays.size) timer = setTimeout(tried, SETTLED_MS);
      setFound({
        stopped: told.filter((each) => each.stop).map((each) => item(each.group.group, 'bad', each.stop.sentence)),
        behind: told.filter((each) => !each.stop && stays.has(each.group.group)).map((each) => item(each.group.group, 'info', `is ${many(each.group.lag, 'record')} behind`)),
        more: there.slice(MOST_ASKED).filter((group) => group.worst === 'stop' || stays.has(group.group)).length,
        unseen: total - groups.length,
        left: late.filter((group) => group.members === 0),
        hanging,
        nodes: { down: nodes.filter((node) => !node.running).map((node) => node.node), leaderless },
      });
    };
    const tried = () => look().catch(() => {}); // what is shown stays as it was; the frame says that nobody answers
    tried();
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }, [version]);
  return found;
}

/** Groups that are not there though clients have asked in their names: these were refused, or still wait. */
function useAbsent(requests) {
  const version = useVersion(['journal', 'groups'], ABSENT_MS);
  const [found, setFound] = useState({ absent: [], absentMore: 0 });
  const isKept = requests !== null;
  const latest = useRef(requests);
  latest.current = requests;
  useEffect(() => {
    let ended = false;
    const look = async () => {
      const window = { since: Math.max(0, latest.current - LOOKED_THROUGH), before: Number.MAX_SAFE_INTEGER };
      const { entries } = await get('/v1/journal', { ...window, not_api: NO_BEGINNING, limit: ENTRIES });
      const troubles = new Map(); // group -> what became of its newest request that met trouble
      for (const entry of entries.reverse()) {
        const text = entry.outcome === 'pending' && !entry.fault ? null : troubleText(entry);
        if (text) for (const group of entry.groups) if (!troubles.has(group)) troubles.set(group, text);
      }
      const asked = [...troubles.keys()].slice(0, MOST_NAMES);
      const there = await Promise.all(asked.map((group) => get('/v1/groups', { group, limit: 1 })));
      if (ended) return;
      const absent = asked.filter((_, index) => there[index].total === 0).map((group) => item(group, 'bad', `is not there: ${troubles.get(group)}`));
      setFound({ absent: absent.slice(0, MOST_ASKED), absentMore: Math.max(0, absent.length - MOST_ASKED) });
    };
    if (isKept) look().catch(() => {});
    return () => { ended = true; };
  }, [version, isKept]);
  return found;
}
