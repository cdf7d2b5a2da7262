import { appendFileSync, chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { HostileWorld } from './hostile-world.ts';

/** A way in which a repository names a program. */
export interface Canary {
  readonly name: string;
  /** `@PWN@` is a file that the program makes. */
  readonly config?: Readonly<Record<string, string>>;
  /** Files to make first; scripts are executable. `@PWN@` as above. */
  readonly files?: Readonly<Record<string, string>>;
  /** What git itself runs the program for: a canary that nothing wakes shows nothing. */
  readonly control?: string;
}

const touch = 'touch @PWN@;:';
/** A driver reads its input, so that git does not die of it. */
const driver = 'sh -c "touch @PWN@; cat \\"$1\\"" -';
const script = '#!/bin/sh\ntouch @PWN@\n';

/** Programs that git would start for what our commands ask of it, were it not told otherwise. */
export const CANARIES: readonly Canary[] = [
  { name: 'fsmonitor', config: { 'core.fsmonitor': touch }, control: 'git status' },
  {
    name: 'hooksPath',
    config: { 'core.hooksPath': 'evil-hooks' },
    files: Object.fromEntries(
      ['reference-transaction', 'post-index-change', 'pre-commit', 'prepare-commit-msg', 'pre-push'].map(
        (hook) => [`evil-hooks/${hook}`, script],
      ),
    ),
    control: 'git update-ref refs/heads/control HEAD',
  },
  {
    name: 'sshCommand',
    config: { 'core.sshCommand': touch, 'remote.ssh.url': 'ssh://localhost/x', 'branch.main.remote': 'ssh' },
    control: 'git fetch ssh',
  },
  {
    name: 'gitProxy',
    config: { 'core.gitProxy': 'touch @PWN@ --', 'remote.proxy.url': 'git://localhost/x' },
    files: { 'proxy.sh': script },
  },
  {
    name: 'remote helper',
    config: {
      'remote.ext.url': 'ext::touch @PWN@',
      'remote.ext.promisor': 'true',
      'protocol.allow': 'always',
      'protocol.ext.allow': 'always',
    },
    control: 'git fetch ext',
  },
  {
    name: 'credential helper',
    config: { 'credential.helper': '!touch @PWN@;:' },
    control: 'echo url=https://localhost | git credential fill',
  },
  {
    name: 'askPass',
    config: { 'core.askPass': './ask.sh' },
    files: { 'ask.sh': script },
    control: 'echo url=https://localhost | git -c credential.helper= credential fill',
  },
  {
    name: 'gpg',
    config: { 'gpg.program': './gpg.sh', 'log.showSignature': 'true', 'commit.gpgSign': 'true' },
    files: { 'gpg.sh': script },
    control: 'git log -1 signed',
  },
  {
    name: 'ssh signatures',
    config: {
      'gpg.ssh.program': './ssh.sh',
      'gpg.ssh.defaultKeyCommand': 'touch @PWN@',
    },
    files: { 'ssh.sh': script },
    control: 'git -c gpg.format=ssh commit-tree -S -m x HEAD^{tree}',
  },
  {
    name: 'trailer.command',
    config: { 'trailer.session-id.key': 'Claude-Session-Id', 'trailer.session-id.command': touch },
    control: 'echo | git interpret-trailers --trailer session-id=x',
  },
  {
    name: 'trailer.cmd',
    config: { 'trailer.claude-session-id.cmd': touch },
    control: 'echo | git interpret-trailers --trailer claude-session-id=x',
  },
  {
    name: 'external diff',
    config: { 'diff.external': touch },
    control: 'git diff src/a.ts',
  },
  {
    name: 'diff driver',
    config: { 'diff.evil.command': touch },
    files: { '.git/info/attributes': '*.ts diff=evil\n' },
    control: 'git diff src/a.ts',
  },
  {
    name: 'textconv',
    config: { 'diff.text.textconv': driver },
    files: { '.git/info/attributes': '*.txt diff=text\n' },
    control: 'git diff HEAD~3 -- gone.txt',
  },
  {
    name: 'merge driver',
    config: { 'merge.evil.driver': touch },
    files: { '.git/info/attributes': '*.ts merge=evil\n' },
    control:
      'git checkout -q -f -B m1 && sed -i 1d src/b.ts && git commit -qam 1 && git checkout -q -B m2 HEAD~ && sed -i 2d src/b.ts && git commit -qam 2 && git merge m1',
  },
  {
    name: 'pager',
    config: { 'core.pager': touch, 'pager.log': touch },
    control: 'script -qec "git log" /dev/null',
  },
  {
    name: 'editor',
    config: { 'core.editor': touch, 'sequence.editor': touch },
    control: 'git commit --allow-empty',
  },
  { name: 'alias of ours', config: { 'alias.handoff': '!touch @PWN@' } },
  {
    name: 'alias of a command',
    config: { 'alias.update-ref': '!touch @PWN@', 'alias.status': '!touch @PWN@' },
  },
  { name: 'alias', config: { 'alias.stat': '!touch @PWN@' }, control: 'git stat' },
  { name: 'pack-objects hook', config: { 'uploadpack.packObjectsHook': 'touch @PWN@' } },
  { name: 'refs of alternates', config: { 'core.alternateRefsCommand': 'touch @PWN@' } },
  { name: 'gc hook', config: { 'gc.recentObjectsHook': 'touch @PWN@', 'gc.auto': '1' } },
  {
    name: 'included file',
    config: { 'include.path': '../evil.config' },
    files: { 'evil.config': '[core]\n\tfsmonitor = "touch @PWN@;:"\n' },
  },
  {
    name: 'worktree settings',
    config: { 'extensions.worktreeConfig': 'true' },
    files: { '.git/config.worktree': '[core]\n\tfsmonitor = "touch @PWN@;:"\n' },
    control: 'git status',
  },
  {
    name: 'configured hook',
    config: { 'hook.evil.command': 'touch @PWN@', 'hook.evil.event': 'reference-transaction' },
  },
  {
    name: 'client settings',
    files: {
      '.claude/settings.json': settings('touch @PWN@; git-handoff guard --client claude'),
      '.claude/settings.local.json': settings(
        'p=\'@PWN@.sh\'; [ -x "$p" ] || exit 0; exec "$p" guard --client claude # git-handoff guard',
      ),
      '.gemini/settings.json': settings('touch @PWN@ # git-handoff guard --client gemini'),
    },
  },
];

function settings(command: string): string {
  return JSON.stringify({ hooks: { PreToolUse: [{ hooks: [{ type: 'command', command }] }] } });
}

/** Sets a canary up in a world. */
export function plant(world: HostileWorld, { name, config = {}, files = {} }: Canary): void {
  const fill = (text: string) => text.replaceAll('@PWN@', world.canary(name.replaceAll(' ', '-')));
  for (const [path, content] of Object.entries(files)) {
    const file = join(world.path, path);
    mkdirSync(dirname(file), { recursive: true });
    if (content.startsWith('#!')) {
      writeFileSync(file, fill(content));
      chmodSync(file, 0o755);
    } else appendFileSync(file, fill(content));
  }
  world.configure(Object.fromEntries(Object.entries(config).map(([key, value]) => [key, fill(value)])));
}
