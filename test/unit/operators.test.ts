import { describe, expect, it } from 'vitest';
import { activeOperators, isOperatorId, operatorOf, parseOperators } from '../../src/domain/operators.ts';

const ids = (text: string) => parseOperators(text).map(({ id, email }) => [id, email]);

describe('OPERATORS.md', () => {
  it('may be the list of structured-handoff', () => {
    const text = `---
schema_version: "1.0"
operators:
  - id: deep-name
    display_name: "Deep: Name"
    github_handle: deep
    git_email: "Deep@Example.org"
    capabilities: [implement, review]
    active_since: 2026-05-03
  - display_name: Bob
    id: 'bob' # the second
    git_email: bob@example.org # his
    active_until: "2026-06-01T00:00:00Z"
---
# Operators

id: nobody
`;
    expect(parseOperators(text)).toEqual([
      { id: 'deep-name', email: 'deep@example.org', activeUntil: undefined },
      { id: 'bob', email: 'bob@example.org', activeUntil: '2026-06-01' },
    ]);
  });

  it('may be a table', () => {
    const text =
      '| operator | name | mail |\r\n|---|---|---|\r\n| `alice` | Alice | <alice@example.org> |\r\n| bob | Bob | bob@example.org |\r\n| no one | x | n@example.org |\r\n';
    expect(ids(text)).toEqual([
      ['alice', 'alice@example.org'],
      ['bob', 'bob@example.org'],
    ]);
  });

  it('may be a list', () => {
    const text =
      '# Operators\n\n- alice <Alice@example.org>\n* **bob**: Bob, bob@example.org\n+ `carol` (carol@example.org)\n- dave\n- use this file with care\n- éve <eve@example.org>\n';
    expect(ids(text)).toEqual([
      ['alice', 'alice@example.org'],
      ['bob', 'bob@example.org'],
      ['carol', 'carol@example.org'],
      ['dave', undefined],
    ]);
  });

  it('defines the first of two with the same name, and none in prose', () => {
    expect(ids('- alice <a@example.org>\n- alice <b@example.org>\n')).toEqual([['alice', 'a@example.org']]);
    expect(ids('Ask alice <alice@example.org>.\n\nid: bob\n')).toEqual([]);
  });

  it('ignores those whose time is over', () => {
    const operators = parseOperators(
      '- id: bob\n  active_until: 2026-06-01\n- id: carol\n  active_until: null\n',
    );
    const on = (today: string) => activeOperators(operators, today).map(({ id }) => id);
    expect(on('2026-05-31')).toEqual(['bob', 'carol']);
    expect(on('2026-06-01')).toEqual(['carol']);
  });

  it('identifies an operator by the address, however it is spelt', () => {
    const operators = parseOperators('- alice <Alice@Example.org>\n- bob\n');
    expect(operatorOf(' alice@EXAMPLE.org', operators)).toBe('alice');
    expect(operatorOf('', operators)).toBeUndefined();
    expect(operatorOf('x@example.org', operators)).toBeUndefined();
  });

  it.each(['', 'a b', 'a.b', 'x'.repeat(65), '../x', 'a\n'])('does not accept the name %j', (text) => {
    expect(isOperatorId(text)).toBe(false);
  });
});
