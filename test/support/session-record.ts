import type { SessionId } from '../../src/domain/names.ts';
import type { SessionRecord } from '../../src/domain/session.ts';

/** A session's record with these changes. Without changes, it is on boot `boot` and in pid namespace `ns`. */
export function recordOf(session: SessionId, changes: Partial<SessionRecord> = {}): SessionRecord {
  return {
    v: 1,
    session,
    client: 'claude',
    pid: 20,
    start: '200',
    bootId: 'boot',
    pidNs: 'ns',
    host: 'machine',
    clone: '/repo/.git',
    parent: null,
    succeeds: null,
    startedAt: 1000,
    ended: null,
    ...changes,
  };
}
