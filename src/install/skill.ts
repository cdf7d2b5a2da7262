import { join } from 'node:path';
import { Failure } from '../domain/failure.ts';
import { type FileReceipt, sha256 } from './change.ts';
import { type ClientInstaller, HOW_TO_INSTALL, type SettingsFolders } from './client.ts';
import { userFolder } from './choose-clients.ts';
import { type DiskFile, readFileFacts, readBytes } from './disk.ts';
import { planFile } from './plan-file.ts';
import type { TextsPlan } from './plan-instructions.ts';
import type { Receipt } from './receipt.ts';

/** The same in the package and in a client's folder. */
const SKILL = join('skills', 'git-handoff', 'SKILL.md');

/** Where one client looks for the skill, and what the skill says. */
export interface SkillFacts extends DiskFile {
  readonly client: string;
  readonly text: Buffer;
}

/**
 * Reads the package's skill and what is in its place in each client's folder.
 *
 * @throws Failure `environment` when the package is not whole, or a file cannot be read
 */
export async function readSkills(
  installers: readonly ClientInstaller[],
  places: SettingsFolders & { readonly packageRoot: string },
): Promise<SkillFacts[]> {
  const source = join(places.packageRoot, SKILL);
  const text = await readBytes(source);
  if (text === undefined) {
    throw new Failure('environment', `${source} is missing: the package is incomplete`, {
      hint: HOW_TO_INSTALL,
    });
  }
  return Promise.all(
    installers.map(async (installer) => ({
      client: installer.client,
      text,
      ...(await readFileFacts(join(userFolder(installer, places), SKILL))),
    })),
  );
}

/** Plans the skill's files. Pure. A file that holds anything but what we put there is left as it is. */
export function planSkills(skills: readonly SkillFacts[], receipt: Receipt): TextsPlan {
  const notices: string[] = [];
  const files = skills.flatMap(({ path, client, bytes, text }) => {
    const prior = receipt.files.find((file) => file.path === path);
    const isOurs = bytes === undefined || bytes.equals(text) || isInstalled(bytes, prior);
    if (!isOurs) {
      notices.push(
        `${path}: left as it is, because somebody else wrote or edited it. To have ours, move it away first`,
      );
      return [];
    }
    const planned = planFile({
      role: 'skill',
      path,
      client,
      current: bytes,
      prior,
      mode: 0o644,
      // Nothing but ours is ever in it.
      strip: () => '',
      want: () => text.toString('latin1'),
    });
    if (planned === undefined) return [];
    const formerly = bytes === undefined ? {} : { formerly: sha256(bytes) };
    return [{ ...planned, receipt: { ...planned.receipt, ...formerly } }];
  });
  return { files, notices };
}

/** Whether these are bytes that we put there. */
export function isInstalled(bytes: Buffer, receipt: FileReceipt | undefined): boolean {
  const hash = sha256(bytes);
  return hash === receipt?.after || hash === receipt?.formerly;
}
