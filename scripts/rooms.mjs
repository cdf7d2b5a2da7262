// The rooms of src/ and the directions between them. ESLint holds them (eslint.config.js).

const GROUND = ['install', 'git', 'host', 'shell', 'domain'];
const SUBJECTS = ['notes', 'rescue', 'changes', 'sessions'];

/** What each room may import besides itself. The entries (`src/*.ts`) may import everything. */
export const MAY_IMPORT = {
  cli: ['verbs', 'ui', ...SUBJECTS, ...GROUND],
  verbs: ['ui', ...SUBJECTS, ...GROUND],
  guard: ['agents', ...SUBJECTS, ...GROUND],
  githooks: [...SUBJECTS, ...GROUND],
  notes: ['changes', 'sessions', ...GROUND],
  rescue: ['changes', 'sessions', ...GROUND],
  changes: ['sessions', ...GROUND],
  sessions: GROUND,
  install: ['git', 'host', 'shell', 'domain'],
  ui: ['domain'],
  agents: ['domain'],
  git: ['shell', 'domain'],
  host: ['shell', 'domain'],
  shell: ['domain'],
  domain: [],
};

/** The room of a source, by its path below src/ with `/`; `undefined` for an entry. */
export const roomOf = (path) => (path.includes('/') ? path.split('/')[0] : undefined);
