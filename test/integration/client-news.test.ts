import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

/* scripts/client-news.mjs with a stand-in for a client's newest version, from a registry on 127.0.0.1. */

const ROOT = join(import.meta.dirname, '../..');
const NAME = '@anthropic-ai/claude-code';
const VERSION = '99.0.1';

/** A client that offers its model three tools, accepts any answer, and calls no hook. */
const PROGRAM = `#!/usr/bin/env node
if (process.argv.includes('--version')) console.log('${VERSION} (stand-in)');
else fetch(process.env.ANTHROPIC_BASE_URL + '/v1/messages', {
  method: 'POST',
  body: JSON.stringify({
    model: 'm',
    tools: [{ name: 'Bash' }, { name: 'Monitor' }, { name: 'Obliterate' }],
    messages: [{ role: 'user', content: 'go' }],
  }),
}).then((answer) => answer.text()).then(() => {
  console.log(JSON.stringify({ type: 'result', session_id: 'a1f0c3d2-1111-4222-8333-444455556666' }));
});
`;

/** How the package declares its tools. The new tool is declared, but not offered to the model. */
const DECLARED =
  'export type ToolInputSchemas =\n  | BashInput\n  | FileEditInput\n  | McpInput\n  | FileShredInput\n';

/** Packs the stand-in, serves it as a registry does, and returns the registry's address. */
async function startRegistry(folder: string): Promise<string> {
  const made = join(folder, 'package');
  mkdirSync(made);
  const manifest = { name: NAME, version: VERSION, bin: { claude: 'claude.cjs' } };
  writeFileSync(join(made, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(made, 'claude.cjs'), PROGRAM, { mode: 0o755 });
  writeFileSync(join(made, 'install.cjs'), '');
  writeFileSync(join(made, 'sdk-tools.d.ts'), DECLARED);
  execFileSync('tar', ['-czf', 'package.tgz', 'package'], { cwd: folder });
  const tarball = readFileSync(join(folder, 'package.tgz'));
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  const server = createServer((request, response) => {
    if (request.url?.endsWith('.tgz') === true) {
      response.end(tarball);
      return;
    }
    const dist = { tarball: `${url}/package.tgz`, integrity };
    const versions = { [VERSION]: { ...manifest, dist } };
    response.end(JSON.stringify({ name: NAME, 'dist-tags': { latest: VERSION }, versions }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return url;
}

it('a tool of a client’s new version that the table of tools lacks is reported, and the run fails', async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'git-handoff-stand-in-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    TMPDIR: folder,
    NO_PROXY: '127.0.0.1',
    npm_config_registry: await startRegistry(folder),
    npm_config_cache: join(folder, 'cache'),
  };
  const { status, stdout } = await new Promise<{ status: number | null; stdout: string }>((resolve) => {
    const child = execFile(
      process.execPath,
      [join(ROOT, 'scripts/client-news.mjs'), 'claude'],
      { cwd: ROOT, env },
      (_, stdout) => resolve({ status: child.exitCode, stdout }),
    );
  });
  expect(stdout).toContain(`## Claude Code ${VERSION}`);
  expect(stdout.match(/unknown tool: \w+/g)).toEqual(['unknown tool: Obliterate', 'unknown tool: Shred']);
  expect(stdout).toContain('could not be driven to the end');
  expect(status).toBe(1);
});
