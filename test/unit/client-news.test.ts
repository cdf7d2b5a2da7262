import { describe, expect, it } from 'vitest';
import { newsOf } from '../../scripts/client-news.mjs';

const event = (name: string, more: object = {}): object => ({ hook_event_name: name, cwd: '/repo', ...more });
const call = (tool: string, more: object = {}): object => event('PreToolUse', { tool_name: tool, ...more });

describe("the changes of a client's newest version in what it tells hooks", () => {
  it.each([
    ['nothing', [event('Stop')], [event('Stop')], []],
    [
      'another order, and as often as it likes',
      [event('Stop'), event('End')],
      [event('End'), event('End'), event('Stop')],
      [],
    ],
    ['an event that is no more', [event('Stop'), event('End')], [event('Stop')], ['missing: End']],
    ['an event that was not', [event('Stop')], [event('Stop'), event('End')], ['new: End']],
    [
      'a tool of another name',
      [call('Edit')],
      [call('Change')],
      ['missing: PreToolUse Edit', 'new: PreToolUse Change'],
    ],
    ['a field more', [event('Stop')], [event('Stop', { model: 'm' })], ['Stop, new: model']],
    ['a field less', [event('Stop', { model: 'm' })], [event('Stop')], ['Stop, missing: model']],
    [
      'fields within others, in lists as well',
      [call('Edit', { tool_input: { edits: [{ old: 'a' }] } })],
      [call('Edit', { tool_input: { edits: [{ from: 'a' }] } })],
      ['PreToolUse Edit, missing: tool_input.edits[].old', 'PreToolUse Edit, new: tool_input.edits[].from'],
    ],
    [
      'a new field with fields of its own, by its own name',
      [call('Edit')],
      [call('Edit', { effort: { level: 'high' }, efforts: 2 })],
      ['PreToolUse Edit, new: effort, efforts'],
    ],
    ['a field that only some had', [event('Stop'), event('Stop', { agent: 'a' })], [event('Stop')], []],
    [
      'a field that only some have now',
      [event('Stop', { a: 1 })],
      [event('Stop'), event('Stop', { a: 1 })],
      [],
    ],
    [
      'an event without a name',
      [{ agent: 'a' }],
      [{ agentId: 'a' }],
      ['an event without a name, missing: agent', 'an event without a name, new: agentId'],
    ],
  ])('%s', (_, captured, seen, news) => {
    expect(newsOf(captured, seen)).toEqual(news);
  });
});
