import { basename, dirname } from '../disk.ts';
import type { ProgramCall, Program, Status } from '../machine.ts';
import { hasOption, optionValue, parseOptions } from '../options.ts';
import { filterInput } from '../output.ts';
import { UNKNOWN } from '../unknown.ts';
import { runChildShell } from './shells.ts';

const MAX_RUNS = 1000;

/** Splits the input of xargs: at blanks outside quotes, or at the delimiter given. */
function itemsOf(text: string, delimiter: string | undefined): string[] {
  if (delimiter !== undefined) return text.split(delimiter).filter((item) => item !== '');
  const items: string[] = [];
  const pattern = /(?:"[^"\n]*"|'[^'\n]*'|\\.|[^\s"'\\])+/gs;
  for (const found of text.match(pattern) ?? []) {
    items.push(
      found.replace(/"([^"\n]*)"|'([^'\n]*)'|\\(.)/gs, (_, double, single, char) => {
        return [double, single, char].map((part: unknown) => (typeof part === 'string' ? part : '')).join('');
      }),
    );
  }
  return items;
}

function delimiterOf(options: ReturnType<typeof parseOptions>): string | undefined {
  if (hasOption(options, '0', 'null')) return '\0';
  const given = optionValue(options, 'd', 'delimiter');
  if (given !== undefined)
    return given === '\\n' ? '\n' : given === '\\0' ? '\0' : given === '\\t' ? '\t' : given;
  return hasOption(options, 'I', 'i', 'replace', 'L') ? '\n' : undefined;
}

function xargs(call: ProgramCall): Status {
  const { machine, frame } = call;
  const options = parseOptions(call.args, {
    short: 'I:i::n:L:l::P:d:a:s:E:e::J:R:S:',
    long: 'replace=? max-args= max-lines=? max-procs= delimiter= arg-file= max-chars= eof=? null no-run-if-empty verbose',
    stops: true,
  });
  const command = options.operands.length > 0 ? options.operands : ['echo'];
  const file = optionValue(options, 'a', 'arg-file');
  const text = filterInput(call, file === undefined ? [] : [file]);
  const items = itemsOf(text, delimiterOf(options));
  const inner = { ...frame };
  const replaced = ['I', 'i', 'replace', 'J']
    .map((name) => optionValue(options, name))
    .find((v) => v !== undefined);
  if (replaced !== undefined) {
    const mark = replaced === '' ? '{}' : replaced;
    for (const item of items.slice(0, MAX_RUNS)) {
      const trimmed = item.trimStart();
      machine.run.argv(
        machine,
        command.map((word) => word.replaceAll(mark, () => trimmed)),
        inner,
      );
    }
    return undefined;
  }
  const count = Number(optionValue(options, 'n', 'max-args', 'L', 'max-lines') ?? items.length);
  const size = Number.isInteger(count) && count > 0 ? count : items.length;
  for (let at = 0; at < Math.max(items.length, 1); at += Math.max(size, 1)) {
    if (at >= MAX_RUNS * size) machine.exhausted = true;
    if (machine.exhausted) break;
    machine.run.argv(machine, [...command, ...items.slice(at, at + size)], inner);
  }
  return undefined;
}

/** GNU parallel: a shell template, its `{}` filled from `:::` words or from the input. */
function parallel(call: ProgramCall): Status {
  const mark = call.args.findIndex((word) => /^:::\+?$/.test(word));
  const options = parseOptions(call.args.slice(0, mark < 0 ? undefined : mark), {
    short: 'j:P:n:N:I:a:d:S:C:',
    long: 'jobs= max-procs= max-args= arg-file= delimiter= colsep= joblog= results= timeout= retries= delay=',
    stops: true,
  });
  const template = options.operands.join(' ');
  const items = mark < 0 ? call.frame.input.rest.split('\n').filter(Boolean) : call.args.slice(mark + 1);
  if (template === '') for (const item of items.slice(0, MAX_RUNS)) runChildShell(call, item);
  for (const item of items.slice(0, MAX_RUNS)) {
    const quoted = item === UNKNOWN ? item : `'${item.replaceAll("'", "'\\''")}'`;
    const filled = template
      .replaceAll('{}', () => quoted)
      .replaceAll('{.}', () => quoted.replace(/\.[^./]*'$/, "'"))
      .replaceAll('{/}', () => `'${basename(item)}'`)
      .replaceAll('{//}', () => `'${dirname(item)}'`);
    runChildShell(call, filled === template ? `${template} ${quoted}` : filled);
  }
  return undefined;
}

export const XARGS_PROGRAMS: ReadonlyMap<string, Program> = new Map([
  ['xargs', xargs],
  ['parallel', parallel],
]);
