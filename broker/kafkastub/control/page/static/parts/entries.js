// Entries of the journal: what became of each, in words.

/** Whether the client of an entry went away before its answer came: no fault took it. */
export const isGone = (entry) => entry.outcome === 'dropped' && !entry.fault;

/** Whether it got no answer, and that was not its client's doing. */
export const isUnanswered = (entry) => ['closed', 'refused', 'dropped'].includes(entry.outcome) && !isGone(entry);

/** What became of a request, in words. */
export const outcomeText = (entry) => (isGone(entry) ? 'client gone' : entry.outcome.replace('_', ' '));

/** The errors in its answer. */
export const errorsOf = (entry) => entry.errors.filter((error) => error.code !== 0);
