import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Assets } from '../../src/ui/board/page.ts';

const built = createRequire(import.meta.url)(
  join(import.meta.dirname, '..', '..', 'dist', 'cli', 'assets.cjs'),
) as { ASSETS: Assets };

/** The page's script and style as they were built. */
export const ASSETS_FOR_TESTS = built.ASSETS;
