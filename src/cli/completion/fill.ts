/** Puts the texts into a shell's script, in place of `@NAME@`; they may hold anything. */
export function filled(script: string, texts: Readonly<Record<string, string>>): string {
  return script.replace(/@([A-Z]+)@/g, (place, name: string) => texts[name] ?? place);
}
