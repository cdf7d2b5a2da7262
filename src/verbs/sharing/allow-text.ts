import type { AllowShape } from '../shapes.ts';
import { shortId } from '../../domain/names.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import type { Rendered } from '../../ui/terminal.ts';

/** For whom the next refusal is lifted, and until when. */
export function renderAllowed({ session, until }: AllowShape): Rendered {
  const who =
    session === null ? 'whichever session is refused first' : `session ${escapeLine(shortId(session))}`;
  return `allowed once, for ${who}, until ${until}\n`;
}
