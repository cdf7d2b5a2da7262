import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Assets, boardPage, boardPolicy, embeddedJson } from '../../../src/ui/board/page.ts';
import { sampleBoard } from '../../support/board-sample.ts';

const ASSETS: Assets = { script: 'go()', style: 'a{b:c}' };
const EMPTY = sampleBoard({ sessions: 0, handoffs: 0 });
const page = (board = EMPTY) => boardPage(board, ASSETS, '<!doctype html>\n<html>');
const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

describe('JSON inside a page', () => {
  it('contains nothing that ends its element or a line, and parses to the same value', () => {
    const texts = ['</script><script>x()</script>', '<!--', ']]>', '\u2028\u2029', '\\u003c'];
    const json = embeddedJson(texts);
    expect(json).not.toMatch(/[<\u2028\u2029]/);
    expect(JSON.parse(json)).toEqual(texts);
  });

  it('does so for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const json = embeddedJson({ [text]: text });
        expect(json).not.toMatch(/[<\u2028\u2029]/);
        expect(JSON.parse(json)).toEqual({ [text]: text });
      }),
    );
  });
});

describe('the page', () => {
  it('allows its own script and style by their hashes, and nothing else', () => {
    const policy = boardPolicy(ASSETS);
    expect(policy.split('; ')).toEqual(
      expect.arrayContaining([
        `default-src 'none'`,
        `script-src ${hash('go()')}`,
        `style-src ${hash('a{b:c}')}`,
        `base-uri 'none'`,
        `form-action 'none'`,
      ]),
    );
    expect(policy).not.toMatch(/unsafe|connect-src|http|\*/);
  });

  it('has its policy before the style and the data that it applies to', () => {
    const html = page();
    expect(html.indexOf('Content-Security-Policy')).toBeGreaterThan(0);
    expect(html.indexOf('Content-Security-Policy')).toBeLessThan(html.indexOf('<style>'));
  });

  it('has only one script and the data, whatever the repository’s name', () => {
    const repository = '</title><script>x()</script>"&';
    const html = page({ ...EMPTY, repository });
    expect(html.match(/<script/g)).toHaveLength(2);
    expect(html.match(/<\/title>/g)).toHaveLength(1);
  });
});
