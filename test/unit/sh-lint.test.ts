import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { endsTooEarly, shFiles } from '../../scripts/sh-lint.mjs';

describe('what bash 3.2 cannot parse', () => {
  it.each([
    ['x=$(case a in a) echo 1 ;; esac)', [1]],
    ['x=$(case a in (a) echo 1 ;; esac)', []],
    ['\nx="$(\n  case $1 in\n    a | b) ;;\n  esac\n)"\n', [2]],
    ['\nx="$(\n  case $1 in\n    (a | b) ;;\n  esac\n)"\n', []],
    ['x=$(echo "$(case a in a) ;; esac)")', [1]],
    ['case a in a) x=$(echo b) ;; esac', []],
    ["# don't\ncase a in a) ;; esac\nx=$(echo 'case a)' \"b)\" \\))", []],
    ["x=$(\n  # don't (\n  echo ${#1} $# $((1 + (2)))\n)", []],
    ["x=$(cat <<E\nit's (\nE\n)", [1]],
  ])('%j: %j', (script, lines) => {
    expect(endsTooEarly(script)).toEqual(lines);
  });

  it('is in no sh file of ours', () => {
    const files = shFiles();
    expect(files).toContain('bin/git-handoff');
    expect(files).toContain('git-hooks/session.sh');
    for (const file of files) {
      expect(endsTooEarly(readFileSync(join(import.meta.dirname, '../..', file), 'utf8')), file).toEqual([]);
    }
  });
});
