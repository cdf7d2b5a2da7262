// The part of the program that runs in a browser.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

/**
 * The board's script and style as texts for the page that `git handoff board` writes.
 * @returns {Promise<{ script: string, style: string }>}
 */
export async function boardAssets() {
  const folder = join(dirname(dirname(fileURLToPath(import.meta.url))), 'src', 'ui', 'board');
  const build = await rolldown({
    input: join(folder, 'client', 'page.ts'),
    platform: 'browser',
    tsconfig: false,
    transform: { target: 'es2022' },
  });
  const { output } = await build.generate({ format: 'iife', minify: true });
  await build.close();
  const script = output[0].code.trim();
  if (/<\/script|<!--/i.test(script)) throw new Error('the script must not contain </script or <!--');
  const style = readFileSync(join(folder, 'style.css'), 'utf8')
    .replace(/\/\*[^*]*\*\//g, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?([{};,]) ?/g, '$1')
    .replace(/: /g, ':')
    .trim();
  return { script, style };
}
