import { describe, expect, it } from 'vitest';
import {
  chainBlock,
  isShellScript,
  soleBlock,
  withBlock,
  withoutBlocks,
} from '../../../src/install/hook-block.ts';

const PACKAGE = "/opt/it's/git-handoff";

describe('isShellScript', () => {
  it.each([
    ['', true],
    ['echo x\n', true],
    ['#!/bin/sh\n', true],
    ['#! /bin/sh -e\n', true],
    ['#!/usr/bin/env bash\n', true],
    ['#!/usr/bin/env -S A=1 dash -e\n', true],
    ['#!/usr/local/bin/zsh', true],
    ['#!/bin/sh\r\n', false],
    ['#!/usr/bin/env node\n', false],
    ['#!/usr/bin/python3\n# sh\n', false],
    ['#!/usr/bin/fish\n', false],
    ['#!/usr/bin/env\n', false],
    ['#!\n', false],
    ['\x7fELF\0\0', false],
    ['#!/bin/sh\n\0', false],
  ])('%j: %s', (text, expected) => {
    expect(isShellScript(text)).toBe(expected);
  });
});

describe('withBlock', () => {
  const add = (text: string) => withBlock(text, text, 'commit-msg', PACKAGE);

  it.each(['#!/bin/sh\nexit 0\n', 'echo x', '#!/bin/sh -e\n\n$& $1 \xff\n', '# comment\n'])(
    '%j is restored',
    (text) => {
      expect(add(text)).toContain(chainBlock('commit-msg', PACKAGE));
      expect(withoutBlocks(add(text))).toBe(text);
      expect(withBlock(add(text), text, 'commit-msg', PACKAGE)).toBe(add(text));
    },
  );

  it('puts the block after the line that names the interpreter', () => {
    expect(add('#!/bin/bash\nrest')).toBe(`#!/bin/bash\n${chainBlock('commit-msg', PACKAGE)}rest`);
    expect(add('#!/bin/bash')).toBe(`#!/bin/bash\n${chainBlock('commit-msg', PACKAGE)}`);
    expect(add('rest')).toBe(`${chainBlock('commit-msg', PACKAGE)}rest`);
  });

  it('keeps our block if others have added lines after it', () => {
    const text = `#!/bin/sh\n${soleBlock('commit-msg', PACKAGE)}mine\n`;
    expect(withBlock(text, '#!/bin/sh\nmine\n', 'commit-msg', PACKAGE)).toBe(text);
  });

  it('quotes the path for the shell', () => {
    expect(chainBlock('commit-msg', PACKAGE)).toContain(
      "handoff_shim='/opt/it'\\''s/git-handoff/git-hooks/commit-msg'\n",
    );
  });
});

describe('withoutBlocks', () => {
  const block = chainBlock('commit-msg', PACKAGE);

  it('removes every block, wherever it is', () => {
    expect(withoutBlocks(`a\n${block}b\n${block}`)).toBe('a\nb\n');
    expect(withoutBlocks(block.trimEnd())).toBe('');
  });

  it('changes nothing if an end is missing', () => {
    expect(withoutBlocks('a\n# >>> git-handoff >>>\nb\n')).toBeUndefined();
  });

  it('does not mistake a mention for a marker', () => {
    const text = 'echo "# >>> git-handoff >>>"\n# <<< git-handoff <<<\n';
    expect(withoutBlocks(text)).toBe(text);
  });
});
