import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { numberedTopic } from '../../../src/domain/formats/placement.ts';
import { type Topic, parseTopic } from '../../../src/domain/names.ts';
import { slugWords, topicFrom } from '../../../src/domain/note/topic-slug.ts';
import { anyText } from '../../support/any-text.ts';

describe('a topic made from a text', () => {
  it.each([
    ['Limit the rate', 'limit-the-rate'],
    ['Réfresh Tökens', 'refresh-tokens'],
    ['auth', 'auth-work'],
    ['fix test', 'fix-test-work'],
    ['日本語', 'imported-note'],
    ['', 'imported-note'],
    ['--- a_b.c ---', 'a-b-c'],
    ['\u0000x\u001b[2J y', 'x-2j-y'],
  ])('%j is %s', (text, topic) => {
    expect(topicFrom(slugWords(text), 'imported-note')).toBe(topic);
  });

  it('is cut between words, or within a single long word', () => {
    const topic = topicFrom(slugWords('word '.repeat(40)), 'x-y');
    expect(topic).toMatch(/^(?:word-)+word$/);
    expect(topic.length).toBeLessThanOrEqual(60);
    expect(topicFrom(['a'.repeat(300)], 'x-y')).toBe(`${'a'.repeat(60)}-work`);
  });

  it('is always valid, whatever the text', () => {
    fc.assert(
      fc.property(anyText(), fc.integer({ min: 1, max: 50 }), (text, number) => {
        const topic = topicFrom(slugWords(text), 'imported-note');
        expect(parseTopic(topic)).toBe(topic);
        expect(parseTopic(numberedTopic(topic, number))).toBeDefined();
      }),
    );
  });

  it('is numbered from 2, even if it is as long as a topic can be', () => {
    const long = `${'a'.repeat(94)}-bcdef` as Topic;
    expect(numberedTopic('a-b' as Topic, 1)).toBe('a-b');
    expect(numberedTopic('a-b' as Topic, 2)).toBe('a-b-2');
    expect(numberedTopic(long, 50)).toBe(`${'a'.repeat(94)}-50`);
  });
});
