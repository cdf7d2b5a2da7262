import { boardAssets } from '../../scripts/board-assets.mjs';
import type { Assets } from '../../src/ui/board/page.ts';

/** The page's script and style, as the build makes them. */
export const ASSETS: Assets = await boardAssets();
