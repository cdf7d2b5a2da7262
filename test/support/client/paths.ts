import path from 'node:path';

/** The root of this repository. */
export const REPOSITORY = path.resolve(import.meta.dirname, '..', '..', '..');
