import { type GitVerbCall, UNKNOWN } from './effects.ts';
import { type GetoptSpec, type Options, byName, parseOptions } from './options.ts';

const PATHSPECS = 'pathspec-from-file= pathspec-file-nul';

/** Which options of git's verbs take a value, and the long options that may be abbreviated. */
const SPECS = byName<GetoptSpec>({
  apply: { short: 'p:C:', long: 'directory= exclude= include= whitespace=' },
  archive: { short: 'o:', long: 'output= format= prefix= remote= exec=', letters: { o: 'output' } },
  branch: {
    short: 'u:',
    long: 'delete force set-upstream-to= move copy remotes list contains= merged= no-merged= points-at=',
  },
  checkout: { short: 'b:B:', long: `orphan= conflict= ${PATHSPECS} force detach track merge` },
  'checkout-index': { long: 'prefix= stage= force all stdin' },
  clean: { short: 'e:', long: 'exclude= dry-run force' },
  config: {
    short: 'f:',
    long: 'file= blob= type= default= comment= value= url= global system local worktree get get-all get-regexp list unset unset-all remove-section rename-section add replace-all',
  },
  'diff diff-files diff-index diff-tree log range-diff show whatchanged': {
    short: 'S:G:L:n:U:O:',
    long: 'output= grep= author= format=',
  },
  'fast-export': { long: 'export-marks= import-marks=' },
  'fetch pull': {
    short: 'j:o:X:s:S::',
    long:
      'autostash no-autostash rebase=? strategy= strategy-option= depth= refmap= upload-pack= jobs= ' +
      'recurse-submodules=? negotiation-tip= filter= shallow-since= server-option=',
  },
  'format-patch': { short: 'o:v:', long: 'output= output-directory=' },
  merge: {
    short: 'm:F:X:s:S::',
    long: 'message= file= strategy= strategy-option= autostash no-autostash abort',
  },
  mv: { long: 'force dry-run verbose' },
  'push send-pack': {
    short: 'o:',
    long: 'repo= receive-pack= exec= push-option= force-with-lease=? signed=? mirror all tags delete prune dry-run',
  },
  'read-tree': { long: 'reset prefix= index-output= exclude-per-directory=' },
  rebase: {
    short: 'x:X:s:C:S::',
    long: 'onto= exec= strategy= strategy-option= autostash no-autostash abort skip',
  },
  refs: { long: 'message= no-deref create-reflog' },
  reset: { long: `hard merge soft mixed keep quiet ${PATHSPECS}` },
  restore: { short: 's:', long: `source= conflict= staged worktree ${PATHSPECS}` },
  rm: { long: `cached dry-run force quiet ${PATHSPECS}` },
  stash: { short: 'm:', long: `message= include-untracked all keep-index staged patch output= ${PATHSPECS}` },
  switch: {
    short: 'c:C:',
    long: 'create= force-create= orphan= conflict= force discard-changes detach track merge',
  },
  'symbolic-ref': { short: 'm:', long: 'delete quiet short recurse' },
  'update-ref': { short: 'm:', long: 'no-deref stdin create-reflog batch-updates' },
  worktree: { short: 'b:B:', long: 'force orphan reason=' },
});

/** Returns the words of a git call; UNKNOWN stands for an unknown one. */
export function wordsOf({ words }: Pick<GitVerbCall, 'words'>): string[] {
  return words.map((word) => word ?? UNKNOWN);
}

/** Sorts the words of a git call into options and operands. */
export function gitOptions(call: Pick<GitVerbCall, 'verb' | 'words'>): Options {
  return parseOptions(wordsOf(call), SPECS.get(call.verb) ?? {});
}
