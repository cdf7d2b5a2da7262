/** A time budget that never ends, so that a call does not depend on how busy the machine is. */
export const ENDLESS = { left: () => Infinity, part: () => ENDLESS };
