import { describe, expect, it } from 'vitest';
import { FIXED_CONFIG, gitEnvironment } from '../../src/git/environment.ts';

describe('the environment of git children', () => {
  it('sets no language, waits for nobody, and takes no unnecessary lock', () => {
    const env = gitEnvironment({ LC_ALL: 'de_DE.UTF-8', LANG: 'de_DE.UTF-8', GIT_OPTIONAL_LOCKS: '1' });
    expect(env).toMatchObject({
      LC_ALL: 'C',
      GIT_TERMINAL_PROMPT: '0',
      GIT_OPTIONAL_LOCKS: '0',
      GIT_PAGER: 'cat',
    });
  });

  it('shows objects without replacements, and opens no connection for missing ones', () => {
    const env = gitEnvironment({ GIT_ALLOW_PROTOCOL: 'https' });
    expect(env).toMatchObject({
      GIT_NO_REPLACE_OBJECTS: '1',
      GIT_GRAFT_FILE: '/dev/null',
      GIT_NO_LAZY_FETCH: '1',
      GIT_ALLOW_PROTOCOL: 'none',
    });
  });

  it.each([
    'GIT_TRACE',
    'GIT_TRACE2_EVENT',
    'GIT_REDIRECT_STDOUT',
    'GIT_LITERAL_PATHSPECS',
    'GIT_GLOB_PATHSPECS',
  ])('has no %s', (name) => {
    expect(gitEnvironment({ [name]: '1', HOME: '/home/ada' })).not.toHaveProperty(name);
  });

  it('is otherwise the user’s, with the additions of a call', () => {
    const env = gitEnvironment({ HOME: '/home/ada', GIT_DIR: '/r/.git' }, { GIT_INDEX_FILE: '/i' });
    expect(env).toMatchObject({ HOME: '/home/ada', GIT_DIR: '/r/.git', GIT_INDEX_FILE: '/i' });
  });
});

describe('settings that no repository overrides', () => {
  it.each([
    'core.fsmonitor=false',
    'core.hooksPath=/dev/null',
    // git 2.55 and later also run hooks from the config, which hooksPath does not stop.
    'hook.reference-transaction.enabled=false',
    'hook.post-index-change.enabled=false',
    'hook.pre-push.enabled=false',
    'hook.pre-auto-gc.enabled=false',
    'core.fsync=objects,reference',
    'color.ui=false',
  ])('hold %s', (setting) => {
    expect(FIXED_CONFIG[FIXED_CONFIG.indexOf(setting) - 1]).toBe('-c');
  });
});
