import { worker } from '../steps.mjs';

const [a, b, c] = ['a', 'b', 'c'].map(worker);

export const kind = 'handoff notes overwrite each other';

/** @type {import('../play.mjs').Scenario[]} */
export const scenarios = [
  {
    report: 'Digital-Process-Tools/claude-remember#363',
    title: 'two sessions leave notes about two things in one file',
    steps: [
      a.notes('auth-refresh', 'token refresh works, the retry test is red'),
      b.notes('rate-limit', 'the limit is 60, ask before raising it'),
    ],
  },
  {
    report: 'Digital-Process-Tools/claude-remember#614',
    title: 'a long note is replaced by a short one on the same topic',
    steps: [
      a.notes('import-speed', 'tried batches of 500\ntried batches of 5000\nthe index is the bottleneck'),
      b.notes('import-speed', 'speed is fine', {
        harms: true,
        whenRefused: b.notes('import-speed-cont', 'speed is fine'),
      }),
    ],
  },
  {
    report: 'anthropics/claude-code#93260',
    title: 'three sessions, one handover document, one afternoon',
    steps: [
      a.notes('handover-first', 'first has moved the parser'),
      b.notes('handover-second', 'second has renamed the flags'),
      c.notes('handover-third', 'third has found the leak'),
      a.notes('handover-first', 'first has moved the parser\nand its tests'),
    ],
  },
  {
    report: 'SiderealPress/Lobster#1178',
    title: 'three writers of one handoff file, without a rule',
    steps: [
      a.notes('night-consolidation', 'consolidated at night'),
      b.notes('night-consolidation', 'updated by the sub-agent', {
        harms: true,
        whenRefused: b.notes('night-consolidation-cont', 'updated by the sub-agent'),
      }),
      c.notes('night-consolidation', 'typed by hand', {
        harms: true,
        whenRefused: c.notes('night-consolidation-more', 'typed by hand'),
      }),
    ],
  },
  {
    report: 'deftai/directive#4431',
    title: 'a session clears its conversation, gets a new id, and updates its own note',
    steps: [
      b.edits('src/b.js', 'line 1', 'beside it'),
      a.notes('lock-owner', 'the lock is keyed on the id'),
      a.clears(),
      a.notes('lock-owner', 'the lock is keyed on the id\nwhich changes'),
    ],
  },
  {
    report: 'Lexus2016/hermes-agent-evolution#2424',
    title: 'two notes on one topic: keep both, show both',
    steps: [
      a.notes('memory-merge', 'merge by date'),
      b.notes('memory-merge', 'merge by author', {
        harms: true,
        whenRefused: b.notes('memory-merge-cont', 'merge by author'),
      }),
    ],
  },
];
