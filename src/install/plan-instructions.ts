import type { ClientInstaller } from './client.ts';
import { blockState, importsFile, withInstructions, withoutInstructions } from './instruction-block.ts';
import type { InstructionFacts } from './instruction-files.ts';
import { type PlannedFile, planFile } from './plan-file.ts';
import type { Receipt } from './receipt.ts';

/** Changed files, and what a person must know or do by hand. */
export interface TextsPlan {
  readonly files: readonly PlannedFile[];
  readonly notices: readonly string[];
}

/**
 * Plans our block in a project's instruction files: in those that exist, else in those that the chosen clients
 * read. Pure. A file that cannot be changed safely is left as it is, with a notice.
 */
export function planInstructions(
  facts: readonly InstructionFacts[],
  installers: readonly ClientInstaller[],
  receipt: Receipt,
): TextsPlan {
  const present = facts.filter(({ kind }) => kind !== 'missing');
  const read = new Set(installers.map(({ instructionsFile }) => instructionsFile));
  // Their hooks come from elsewhere: this is the file that most of them read.
  if (installers.length === 0) read.add('AGENTS.md');
  const chosen = present.length > 0 ? present : facts.filter(({ name }) => read.has(name));
  const files: PlannedFile[] = [];
  const notices: string[] = [];
  const targets = new Map<string, InstructionFacts>();
  for (const one of chosen) {
    const reason = reasonToLeave(one);
    if (reason !== undefined) notices.push(`${one.path}: left as it is, ${reason}`);
    else if (!isCovered(one, facts) && !targets.has(one.path)) targets.set(one.path, one);
  }
  for (const one of targets.values()) {
    const planned = planOne(one, receipt);
    if (planned !== undefined) files.push(planned);
  }
  const [first] = targets.values();
  if (present.length > 0 && first !== undefined) notices.push(...unreadNotices(facts, installers, first));
  return { files, notices };
}

function planOne({ path, bytes }: InstructionFacts, receipt: Receipt): PlannedFile | undefined {
  const prior = receipt.files.find((file) => file.path === path);
  return planFile({
    role: 'instructions',
    path,
    current: bytes,
    prior,
    mode: 0o644,
    // A block that came with the project comes back as it was.
    strip: prior === undefined ? (text) => text : withoutInstructions,
    // What stands there counts: the person may have moved the block.
    want: (_, current) => withInstructions(current),
  });
}

function reasonToLeave({ kind, bytes }: InstructionFacts): string | undefined {
  if (kind === 'outside') return 'because it is a symbolic link that leads out of the working tree';
  if (kind === 'dangling link') return 'because it is a symbolic link that leads nowhere';
  if (kind === 'other') return 'because it is not a file';
  const text = bytes?.toString('latin1') ?? '';
  if (text.includes('\0')) return 'because it is not UTF-8 text';
  if (blockState(text) !== 'damaged') return undefined;
  return (
    'because our block is damaged or occurs twice. Remove its lines <!-- git-handoff:… --> and what is between ' +
    'them, then run: git handoff init --instructions'
  );
}

/** Imports AGENTS.md on a line of its own: a session that reads the one reads the other. */
function isCovered(one: InstructionFacts, facts: readonly InstructionFacts[]): boolean {
  const agents = facts.find(({ name }) => name === 'AGENTS.md');
  if (agents?.kind !== 'file' || agents.path === one.path) return false;
  const text = one.bytes?.toString('latin1') ?? '';
  return importsFile(text, 'AGENTS.md') && blockState(text) === 'none';
}

/** A client whose own file is missing beside others does not read theirs. */
function unreadNotices(
  facts: readonly InstructionFacts[],
  installers: readonly ClientInstaller[],
  written: InstructionFacts,
): string[] {
  const missing = facts.filter(({ kind }) => kind === 'missing').map(({ name }) => name);
  return installers.flatMap(({ client, instructionsFile: name }) =>
    missing.includes(name)
      ? [
          `${client} reads ${name}, which is not here; to give it the same text: ln -s ${written.name} ${name}`,
        ]
      : [],
  );
}
