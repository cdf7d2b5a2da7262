/** The kinds of files that notes are imported from. */
export type Format = 'guard' | 'handover' | 'structured' | 'markdown';
export const FORMATS: readonly Format[] = ['guard', 'handover', 'structured', 'markdown'];

/** What an export looks like. */
export type ExportFormat = 'markdown' | 'guard' | 'handover';
export const EXPORT_FORMATS: readonly ExportFormat[] = ['markdown', 'guard', 'handover'];
