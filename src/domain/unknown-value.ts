import type { UnknownValue } from './settings.ts';
import { escapeLine } from './surfacing.ts';

/** Reports an invalid value of a setting. */
export function unknownValueText({ key, value, known }: UnknownValue): string {
  return `${escapeLine(key)} is set to ${escapeLine(JSON.stringify(value))}, which is not a valid value; the default applies. Valid: ${known}`;
}
