import tseslint from 'typescript-eslint';

/** Folders of src/ and what each may import besides itself (docs/architecture.md, "Direction of imports"). */
const MAY_IMPORT = {
  domain: [],
  git: ['domain'],
  host: ['domain'],
  agents: ['domain'],
  install: ['domain', 'git', 'host'],
  store: ['domain', 'git', 'host'],
  commands: ['domain', 'git', 'host', 'agents', 'install', 'store'],
  ui: ['domain', 'commands'],
  cli: ['domain', 'git', 'host', 'install', 'commands', 'ui'],
};

const directionRules = Object.entries(MAY_IMPORT).map(([folder, allowed]) => {
  const others = Object.keys(MAY_IMPORT).filter((other) => other !== folder && !allowed.includes(other));
  const patterns = [
    {
      group: others.flatMap((other) => [`**/${other}/**`, `**/${other}.ts`]),
      message: `src/${folder} may import only: ${[...allowed, 'itself'].join(', ')}`,
    },
  ];
  if (folder === 'domain') patterns.push({ group: ['node:*'], message: 'the domain is pure' });
  return {
    files: [`src/${folder}/**/*.ts`],
    rules: { '@typescript-eslint/no-restricted-imports': ['error', { patterns }] },
  };
});

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
      // A function of a Promise type may have nothing to wait for.
      '@typescript-eslint/require-await': 'off',
      'no-control-regex': 'error',
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportDefaultDeclaration', message: 'named exports only' },
        { selector: 'TSEnumDeclaration', message: 'unions of literals, no enums' },
      ],
      eqeqeq: 'error',
      'max-lines': ['error', { max: 250, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    files: ['test/**/*.ts', 'vitest.config.ts'],
    rules: {
      'no-restricted-syntax': 'off',
      // One file per situation: tables of cases may be long.
      'max-lines': 'off',
      'max-lines-per-function': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
  {
    files: ['src/commands/**/*.ts', 'src/store/**/*.ts', 'src/domain/**/*.ts'],
    rules: { 'no-restricted-globals': ['error', 'console', 'process'] },
  },
  {
    // The clock and the time that is left are handed to a command (src/host/io.ts).
    files: ['src/commands/**/*.ts'],
    rules: {
      'no-restricted-globals': ['error', 'console', 'process', 'performance'],
      'no-restricted-properties': ['error', { object: 'Date', property: 'now' }],
    },
  },
  ...directionRules,
);
