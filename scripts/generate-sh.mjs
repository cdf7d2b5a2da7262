// Writes the words that sh and TypeScript share (src/domain/shared-words.ts) into the blocks of the scripts that stand
// between `# --- generated: <name> ---` and `# --- end ---`. A unit test says when they are stale.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

const build = await rolldown({ input: join(root, 'src/domain/shared-words.ts') });
const { output } = await build.generate({ format: 'esm' });
await build.close();
const { freshScript, GENERATED } = await import(`data:text/javascript,${encodeURIComponent(output[0].code)}`);

for (const path of GENERATED) {
  const file = join(root, path);
  const text = readFileSync(file, 'utf8');
  const fresh = freshScript(text);
  if (fresh === text) continue;
  writeFileSync(file, fresh);
  console.log(`written: ${path}`);
}
