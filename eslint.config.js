import { dirname, join, relative, resolve, sep } from 'node:path';
import tseslint from 'typescript-eslint';
import { MAY_IMPORT, roomOf } from './scripts/rooms.mjs';

const SOURCE = join(import.meta.dirname, 'src');
const below = (file) => relative(SOURCE, file).split(sep).join('/');

/** A source may import only from its own room, and from the rooms that `MAY_IMPORT` lists. This includes types and `import()`. */
const direction = {
  create(context) {
    const room = roomOf(below(context.filename));
    const check = (node) => {
      const name = node.source?.value ?? node.source?.literal?.value;
      if (typeof name !== 'string' || !name.startsWith('.')) return;
      const other = roomOf(below(resolve(dirname(context.filename), name)));
      const allowed = [room, ...MAY_IMPORT[room]];
      if (allowed.includes(other)) return;
      const message = `src/${room} may import only from: ${allowed.join(', ')} (docs/architecture.md)`;
      context.report({ node, message });
    };
    return room === undefined
      ? {}
      : {
          ImportDeclaration: check,
          ImportExpression: check,
          TSImportType: check,
          ExportNamedDeclaration: check,
          ExportAllDeclaration: check,
        };
  },
};

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', 'fixtures/', '.cache/'] },
  ...tseslint.configs.strictTypeChecked.map((config) => ({ ...config, files: ['**/*.ts'] })),
  {
    files: ['**/*.ts'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // Some functions must return a Promise, but have nothing to await.
      '@typescript-eslint/require-await': 'off',
      'no-control-regex': 'error',
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportDefaultDeclaration', message: 'named exports only' },
        { selector: 'TSEnumDeclaration', message: 'unions of literals, no enums' },
      ],
      eqeqeq: 'error',
      'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 80, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    files: ['test/**/*.ts', 'vitest.config.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: "CallExpression[arguments.2.type='Literal'][callee.name='it']",
          message: 'no limit of time',
        },
      ],
      // A test file has all cases of a situation, so it may be long.
      'max-lines': 'off',
      'max-lines-per-function': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
  {
    files: ['src/{verbs,guard,githooks,notes,rescue,changes,sessions,shell,domain}/**/*.ts'],
    rules: { 'no-restricted-globals': ['error', 'console', 'process'] },
  },
  {
    // These rooms get the clock and the remaining time as arguments (src/host/io.ts).
    files: ['src/{verbs,guard,githooks}/**/*.ts'],
    rules: {
      'no-restricted-globals': ['error', 'console', 'process', 'performance'],
      'no-restricted-properties': ['error', { object: 'Date', property: 'now' }],
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/ui/board/client/**'],
    plugins: { rooms: { rules: { direction } } },
    rules: { 'rooms/direction': 'error' },
  },
  {
    files: ['src/{domain,shell}/**/*.ts'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        { patterns: [{ group: ['node:*'], message: 'domain and shell are pure' }] },
      ],
    },
  },
);
