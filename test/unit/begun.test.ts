import { describe, expect, it } from 'vitest';
import { BEGUN, type BegunVerb } from '../../src/domain/begun-words.ts';
import { begunAnswers } from '../../src/git/begun.ts';
import { CAT_FILE } from '../../src/git/objects.ts';

const OID = 'a'.repeat(40);
const IDENT = 'A U Thor <author@example.com> 1700000000 +0000\n';
const TREE = `# branch.oid ${OID}\0# branch.head main\0? a\n0\n.\n\0`;
/** A record as git tells it, whatever is in it. */
const record = (name: string, content: string) =>
  `refs/${name}\0${OID}\0blob\0\0${Buffer.byteLength(content)}\0${content}\n`;
const SESSIONS = record('one', '{}') + record('two', '\0\n.\n') + record('three', '');
const QUESTIONS = 'info refs/x\ncontents refs/y\n';
const FOUND = `${OID} blob 4\n.\n.\n\n`;

const answers = (verb: BegunVerb, text: string) => {
  const ask = begunAnswers(verb, '/here', () => Buffer.from(text));
  return (args: readonly string[], options = {}) => ask(args, { cwd: '/here', ...options })?.toString();
};

describe('what the launcher began', () => {
  it('for a write', () => {
    const ask = answers('write', `${IDENT}${TREE}\x000\n${SESSIONS}.\n${QUESTIONS}\n${FOUND}.\n`);
    expect(ask(BEGUN.sessions)).toBe(SESSIONS);
    expect(ask(BEGUN.committer)).toBe(IDENT);
    expect(ask(BEGUN.tree)).toBe(TREE);
    expect(ask(CAT_FILE, { input: 'contents refs/z\n' })).toBeUndefined();
    expect(ask(CAT_FILE, { input: QUESTIONS })).toBe(FOUND);
  });

  it('for a list', () => {
    const [local, branches, handoffs] = [`${OID} refs/a\n`, '', record('handoffs/a', 'x\n.\n')];
    const ask = answers('list', `${local}.\n${branches}.\n${SESSIONS}.\n${handoffs}.\n`);
    expect(ask(BEGUN.handoffs)).toBe(handoffs);
    expect(ask(BEGUN.branches)).toBe('');
    expect(ask(BEGUN.local)).toBe(local);
    expect(ask(BEGUN.sessions)).toBe(SESSIONS);
  });

  it.each(['sync', 'fetch', 'push'] as const)('for a %s', (verb) => {
    const config = 'handoff.enabled\0remote.origin.url\na\n.\nb\0';
    const [kept, work, handoffs] = [`${OID} refs/a\n`, '', record('handoffs/a', 'x\n.\n')];
    const text = `${config}\x000\n${SESSIONS}.\n${kept}.\n${work}.\n${handoffs}.\n`;
    const ask = answers(verb, text);
    expect(ask(BEGUN.handoffs)).toBe(handoffs);
    expect(ask(BEGUN.config)).toBe(config);
    expect(ask(BEGUN.sessions)).toBe(SESSIONS);
    expect([ask(BEGUN.kept), ask(BEGUN.work)]).toEqual([kept, work]);
    // No such setting: git is asked again.
    expect(answers(verb, `\x001\n${SESSIONS}.\n`)(BEGUN.config)).toBeUndefined();
  });

  it('is given once, and only for the very same question', () => {
    const ask = answers('show', `${SESSIONS}.\n`);
    expect(ask(BEGUN.sessions, { cwd: '/there' })).toBeUndefined();
    expect(ask(BEGUN.sessions, { env: { GIT_DIR: 'x' } })).toBeUndefined();
    expect(ask(BEGUN.sessions.slice(0, -1))).toBeUndefined();
    expect(ask(BEGUN.sessions)).toBe(SESSIONS);
    expect(ask(BEGUN.sessions)).toBeUndefined();
  });

  it('is read only when something of it is needed', () => {
    const ask = begunAnswers('list', '/here', () => {
      throw new Error('read');
    });
    expect(ask(['config', '--list'], { cwd: '/here' })).toBeUndefined();
    expect(() => ask(BEGUN.local, { cwd: '/here' })).toThrow('read');
  });

  it('is no answer where git was cut off', () => {
    const whole = `${IDENT}${TREE}\x000\n${SESSIONS}.\n${QUESTIONS}\n${FOUND}.\n`;
    for (let length = 0; length < whole.length; length += 1) {
      const ask = answers('write', whole.slice(0, length));
      const message = `after ${length} bytes`;
      expect([undefined, IDENT], message).toContain(ask(BEGUN.committer));
      expect([undefined, TREE], message).toContain(ask(BEGUN.tree));
      expect([undefined, SESSIONS], message).toContain(ask(BEGUN.sessions));
      // By its own size the object is not whole.
      const object = ask(CAT_FILE, { input: QUESTIONS }) ?? '';
      expect(FOUND.startsWith(object) && object !== FOUND, message).toBe(true);
    }
  });

  it.each([
    ['which git could not tell', `\n${TREE}\x000\n`, [undefined, TREE]],
    ['a worktree that is none', `${IDENT}\x00128\n`, [IDENT, undefined]],
    ['a status that failed on its way', `${IDENT}${TREE}\x00128\n`, [IDENT, undefined]],
    ['nothing', '', [undefined, undefined]],
  ])('says nothing of %s', (_, text, expected) => {
    const ask = answers('write', text);
    expect([ask(BEGUN.committer), ask(BEGUN.tree)]).toEqual(expected);
  });
});
