import { basename } from 'node:path';
import { escapeLine } from '../../domain/messages.ts';
import { isPerson } from '../../domain/names.ts';
import type { JudgedSession } from '../../sessions/records.ts';
import type { BoardSession, LaneState } from '../../ui/board/shape.ts';

/** What we know of a session from its record, or from something that it did. */
interface Trace {
  readonly at: number;
  readonly branch?: string | undefined;
  readonly client?: string | undefined;
  readonly name?: string | undefined;
}

interface Lane {
  readonly id: string;
  readonly records: readonly JudgedSession[];
  from: number;
  to: number;
  branch: { readonly name: string; readonly at: number } | undefined;
  client: string | undefined;
  name: string | undefined;
}

type WorktreesById = ReadonlyMap<string, { readonly path: string; readonly branch: string | undefined }>;

const RANK: readonly LaneState[] = ['live', 'unknown', 'dead', 'ended'];
const SHORT_ID = 8;

/** The sessions of a board: those on record, and those that are known only by what they left behind. One lane per id. */
export class Lanes {
  readonly #lanes: Lane[] = [];
  readonly #index = new Map<string, number>();
  readonly #short = new Map<string, number>();
  readonly #now: number;

  /** @param running the owner ids of running sub-agents; a sub-agent's state is that of its session */
  constructor(records: readonly JudgedSession[], now: number, running: readonly string[] = []) {
    this.#now = now;
    const byId = new Map<string, JudgedSession[]>();
    for (const one of records) byId.set(one.record.session, [...(byId.get(one.record.session) ?? []), one]);
    for (const [id, own] of byId) {
      this.#add(id, own, Math.min(...own.map(({ record }) => record.startedAt)), this.#endOf(own));
    }
    for (const id of running)
      this.#add(id, this.#lanes[this.#index.get(id.split('/')[0] ?? '') ?? -1]?.records ?? [], now, now);
  }

  /** Adds to a session's lane what the session did; makes the lane if it is missing. Returns the lane's number. */
  trace(id: string, { at, branch, client, name }: Trace): number {
    const known = this.#index.get(id) ?? (id.length === SHORT_ID ? this.#short.get(id) : undefined);
    const index = known ?? this.#add(id, [], at, at);
    const lane = this.#lanes[index];
    if (lane === undefined) return index;
    lane.from = Math.min(lane.from, at);
    lane.to = Math.max(lane.to, at);
    lane.client ??= client;
    lane.name ??= name;
    if (branch !== undefined && at >= (lane.branch?.at ?? 0)) lane.branch = { name: branch, at };
    return index;
  }

  /** All sessions, in the order of their lanes. */
  sessions(places: WorktreesById): BoardSession[] {
    return this.#lanes.map((lane) => shape(lane, places));
  }

  #add(id: string, records: readonly JudgedSession[], from: number, to: number): number {
    const index = this.#lanes.length;
    const [session = id, agent] = id.split('/');
    const known = records[0]?.record.client ?? this.#lanes[this.#index.get(session) ?? -1]?.client;
    const client = known ?? (isPerson(id) ? 'person' : undefined);
    this.#lanes.push({ id, records, from, to, branch: undefined, client, name: undefined });
    this.#index.set(id, index);
    if (agent === undefined) this.#short.set(id.slice(0, SHORT_ID), index);
    return index;
  }

  /** The time at which a session ended or was last seen; for a live session, now. */
  #endOf(records: readonly JudgedSession[]): number {
    const ends = records.map(({ record, liveness, silentMs }) => {
      if (liveness === 'live') return this.#now;
      return record.ended?.at ?? Math.max(record.startedAt, this.#now - (silentMs ?? 0));
    });
    return Math.max(...ends);
  }
}

function shape(
  { id, records, from, to, branch, client, name: person }: Lane,
  places: WorktreesById,
): BoardSession {
  const [best] = [...records].sort((a, b) => RANK.indexOf(a.liveness) - RANK.indexOf(b.liveness));
  const place = best === undefined ? undefined : places.get(best.worktreeId);
  const isLive = best?.liveness === 'live';
  const name = (isLive ? place?.branch : undefined) ?? branch?.name ?? place?.branch;
  const [of = null, agent] = id.split('/');
  const { record = { parent: null, succeeds: null, ended: null } } = best ?? {};
  const { parent, succeeds, ended } =
    agent === undefined ? record : { parent: of, succeeds: null, ended: null };
  return {
    id: escapeLine(id),
    state: best?.liveness ?? 'none',
    from,
    to,
    ...(client === undefined ? {} : { client: escapeLine(client) }),
    ...(person === undefined ? {} : { name: escapeLine(person) }),
    ...(best?.liveness === 'ended' && ended !== null ? { reason: escapeLine(ended.reason) } : {}),
    ...(name === undefined ? {} : { branch: escapeLine(name) }),
    ...(place === undefined ? {} : { worktree: escapeLine(basename(place.path)) }),
    ...(parent === null ? {} : { parent }),
    ...(succeeds === null ? {} : { succeeds }),
  };
}
