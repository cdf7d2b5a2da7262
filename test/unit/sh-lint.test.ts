import { describe, expect, it } from 'vitest';
import { endsTooEarly, findings, moreThanAscii, shFiles } from '../../scripts/sh-lint.mjs';

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
});

describe('our sh files', () => {
  it('are found, and contain nothing that a shell cannot read', () => {
    expect(shFiles()).toEqual(
      expect.arrayContaining(['bin/git-handoff', 'git-hooks/ask.sh', 'git-hooks/pre-push']),
    );
    expect(findings()).toEqual([]);
    expect(moreThanAscii('a\n# é\n')).toEqual([2]);
  });
});
