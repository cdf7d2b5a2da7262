import type { LedgerEntry, OpenClaim, SessionLedger } from './claims.ts';

/** The entries that fold to a claim. */
export function claimEntries(claim: OpenClaim): Extract<LedgerEntry, { t: 'claim' }>[] {
  const { path, base, changes, evidence, weak, since, at } = claim;
  const { agent, began } = claim;
  const by = { ...(agent === undefined ? {} : { agent }), ...(began === undefined ? {} : { began }) };
  return changes.map(({ before, after }, n) => {
    return { t: 'claim', path, base, before, after, evidence, weak, ...by, at: n === 0 ? since : at };
  });
}

/** The entries that fold to the same as all of them, for a file that has grown. */
export function compactEntries(ledger: SessionLedger, forgetBefore: number): LedgerEntry[] {
  const entries: LedgerEntry[] = [];
  for (const claim of ledger.ended.values()) {
    const { path, at } = claim;
    if (at >= forgetBefore) entries.push(...claimEntries(claim), { t: 'end', path, why: 'clean', at });
  }
  for (const claim of ledger.claims.values()) {
    const { path, at, committed } = claim;
    entries.push(...claimEntries(claim));
    for (const state of committed) entries.push({ t: 'commit', parent: null, paths: [[path, state]], at });
  }
  for (const [path, by] of ledger.taken) {
    entries.push({ t: 'end', path, why: 'taken', by, at: forgetBefore });
  }
  for (const [path, states] of ledger.staged) {
    for (const one of states.slice(-4)) entries.push({ ...one, t: 'staged', path, at: forgetBefore });
  }
  for (const commit of ledger.commits.slice(-8)) {
    // What is claimed again since must not look committed.
    const paths = commit.paths.filter(([path]) => !ledger.claims.has(path));
    if (commit.at >= forgetBefore) entries.push({ ...commit, paths });
  }
  for (const move of ledger.moves.slice(-8)) entries.push({ t: 'head', ...move, own: true });
  if (ledger.head !== undefined) entries.push({ t: 'head', ...ledger.head });
  for (const { id, text, to, at } of ledger.events) {
    if (at >= forgetBefore) entries.push({ t: 'event', id, text, at, ...(to === undefined ? {} : { to }) });
  }
  for (const { id, from, to, goesOn = false } of ledger.windows) {
    if (to !== undefined && to >= forgetBefore) entries.push({ t: 'window', id, from, goesOn, at: to });
  }
  for (const [path, { agent, at }] of ledger.announced) {
    entries.push({ t: 'announced', paths: [path], at, ...(agent === undefined ? {} : { agent }) });
  }
  for (const request of ledger.requests) {
    if (request.at >= forgetBefore) entries.push({ ...request, t: 'request' });
  }
  for (const [id, at] of [...ledger.told].slice(-256)) entries.push({ t: 'told', ids: [id], at });
  return entries;
}
