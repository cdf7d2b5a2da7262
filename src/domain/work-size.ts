/** How much work a note carries. A trailer states it, so that it is known before the work is fetched. */
export interface WorkSize {
  readonly paths: number;
  readonly bytes: number;
}

/** The value of the trailer `Handoff-Work-Size`. */
export function formatWorkSize({ paths, bytes }: WorkSize): string {
  return `${paths} ${bytes}`;
}

/** Reads that trailer. */
export function parseWorkSize(value: string | undefined): WorkSize | undefined {
  const [, paths, bytes] = /^(\d{1,6}) (\d{1,15})$/.exec(value ?? '') ?? [];
  return paths === undefined ? undefined : { paths: Number(paths), bytes: Number(bytes) };
}

/** `12 paths, 34 KiB`. */
export function workSizeText({ paths, bytes }: WorkSize): string {
  const size = bytes < 1024 ? counted(bytes, 'byte') : `${Math.ceil(bytes / 1024)} KiB`;
  return `${counted(paths, 'path')}, ${size}`;
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;
