import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The folders of payloads, one for each version of a client. */
export const PAYLOADS = resolve(import.meta.dirname, '..', '..', 'fixtures', 'payloads');

export type Payload = Readonly<Record<string, unknown>>;

/** What a real client wrote to a hook's stdin (`fixtures/payloads/README.md`). */
export interface CapturedPayload {
  readonly name: string;
  readonly payload: Payload;
  readonly env: Readonly<Record<string, string>>;
}

/** Every payload that was captured from a client. */
export function capturedPayloads(folder: string): CapturedPayload[] {
  const files = readdirSync(join(PAYLOADS, folder)).filter((file) => file.endsWith('.json'));
  return files.map((file) => ({
    name: file.replace(/\.json$/, ''),
    ...(JSON.parse(readFileSync(join(PAYLOADS, folder, file), 'utf8')) as Omit<CapturedPayload, 'name'>),
  }));
}

/** The captured payload with this name. */
export function capturedPayload(folder: string, name: string): Payload {
  const found = capturedPayloads(folder).find((captured) => captured.name === name);
  if (found === undefined) throw new Error(`no payload ${folder}/${name}`);
  return found.payload;
}
