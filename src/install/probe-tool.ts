/** The tool that `doctor` pretends to call, to see whether a registered command line reaches the guard. */
export const PROBE_TOOL = 'git-handoff-doctor-probe';
