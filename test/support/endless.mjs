/** A budget that never ends: what runs with it does not depend on how busy the machine is. */
export const ENDLESS = { left: () => Infinity, part: () => ENDLESS };
