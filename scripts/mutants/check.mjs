// Whether a mutated file is still a valid program: otherwise tests would fail for that reason alone.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import ts from 'typescript';

/** Finds the type errors that a file would have with another text. */
class TypeCheck {
  #texts = new Map();
  #versions = new Map();
  #service;

  constructor(folder) {
    const config = ts.readConfigFile(join(folder, 'tsconfig.json'), (name) => ts.sys.readFile(name));
    // A mutant may make a name unused.
    const unused = { noUnusedLocals: false, noUnusedParameters: false };
    const { options, fileNames } = ts.parseJsonConfigFileContent(
      { ...config.config, include: ['src'] },
      ts.sys,
      folder,
      unused,
    );
    this.#service = ts.createLanguageService({
      getCompilationSettings: () => ({ ...options, ...unused }),
      getScriptFileNames: () => fileNames,
      getScriptVersion: (name) => String(this.#versions.get(name) ?? 0),
      getScriptSnapshot: (name) => {
        const text = this.#texts.get(name) ?? ts.sys.readFile(name);
        return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
      },
      getCurrentDirectory: () => folder,
      getDefaultLibFileName: (settings) => ts.getDefaultLibFilePath(settings),
      fileExists: ts.sys.fileExists,
      readFile: ts.sys.readFile,
      readDirectory: ts.sys.readDirectory,
      directoryExists: ts.sys.directoryExists,
      getDirectories: ts.sys.getDirectories,
    });
  }

  /** Sets the file's text, or restores the text on the disk. */
  #set(file, text) {
    if (text === undefined) this.#texts.delete(file);
    else this.#texts.set(file, text);
    this.#versions.set(file, (this.#versions.get(file) ?? 0) + 1);
  }

  firstError(file, text) {
    this.#set(file, text);
    try {
      const found = [
        ...this.#service.getSyntacticDiagnostics(file),
        ...this.#service.getSemanticDiagnostics(file),
      ].find(({ category }) => category === ts.DiagnosticCategory.Error);
      return found === undefined ? undefined : ts.flattenDiagnosticMessageText(found.messageText, ' ');
    } finally {
      this.#set(file, undefined);
    }
  }
}

/** Returns a function that says why a file with a given text is not a valid program; `undefined` if it is. */
export function programCheck(folder) {
  const types = new TypeCheck(folder);
  return (file, text) => {
    if (file.endsWith('.ts')) return types.firstError(join(folder, file), text);
    const { status, stderr } = spawnSync('sh', ['-n'], { input: text });
    return status === 0 ? undefined : stderr.toString('utf8').trim();
  };
}
