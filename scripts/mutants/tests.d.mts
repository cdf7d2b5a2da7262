export function testFiles(root: string): string[];
export function findTestFile(files: readonly string[], part: { project: string }, name: string): string;
export function quickProjects(root: string): string[];
