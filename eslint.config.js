import js from '@eslint/js'
import tseslint from 'typescript-eslint'

/** The wings of the service above `platform/`, which may import none of them. */
const WINGS = [
  'cli',
  'app',
  'surfaces',
  'signals',
  'sign-in',
  'posture',
  'people',
  'organisation',
  'changes',
  'schema',
]

const CLOCK_MESSAGE = 'Take the time from the Clock that is passed in (platform/clock.ts).'

export default tseslint.config(
  { ignores: ['**/dist/**', '**/node_modules/**', 'data/**'] },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ['vitest.config.ts'] },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/no-unnecessary-condition': [
        'error',
        { allowConstantLoopConditions: true },
      ],
      '@typescript-eslint/prefer-promise-reject-errors': 'error',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      complexity: ['error', 14],
      eqeqeq: 'error',
      'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 70, skipBlankLines: true, skipComments: true }],
      'max-params': ['error', 5],
      'no-console': 'error',
    },
  },
  {
    files: ['packages/server/src/**/*.ts'],
    ignores: ['**/*.test.ts', 'packages/server/src/cli/**'],
    rules: {
      'no-restricted-globals': [
        'error',
        {
          name: 'fetch',
          message: 'Outbound requests go through the guarded client (platform/net).',
        },
      ],
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              group: ['@heliograph/receiver', '@heliograph/simulator'],
              message: 'Only the command line and the tests use the receiver and the simulator.',
            },
          ],
        },
      ],
      'no-restricted-syntax': [
        'error',
        {
          selector: "NewExpression[callee.name='Date'][arguments.length=0]",
          message: CLOCK_MESSAGE,
        },
        {
          selector: "CallExpression[callee.object.name='Date'][callee.property.name='now']",
          message: CLOCK_MESSAGE,
        },
        {
          selector: "CallExpression[callee.object.name='Math'][callee.property.name='random']",
          message: 'Take randomness from platform/ids.ts.',
        },
        {
          selector: "MemberExpression[object.name='process'][property.name='env']",
          message: 'Only app/config/read-environment.ts reads the environment.',
        },
        {
          selector: "CallExpression[callee.object.name='process'][callee.property.name='exit']",
          message: 'Only main.ts ends the process.',
        },
      ],
    },
  },
  {
    files: [
      'packages/server/src/platform/clock.ts',
      'packages/server/src/platform/ids.ts',
      'packages/server/src/app/config/read-environment.ts',
      'packages/server/src/main.ts',
    ],
    rules: { 'no-restricted-syntax': 'off' },
  },
  {
    files: ['packages/server/src/platform/**/*.ts'],
    ignores: ['**/*.test.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              group: WINGS.map((folder) => `**/${folder}/**`),
              message: 'platform/ holds what has no domain word: it imports no wing.',
            },
          ],
        },
      ],
    },
  },
  {
    files: ['packages/ssf/src/**/*.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        { patterns: [{ group: ['node:*'], message: 'The protocol package does no I/O.' }] },
      ],
    },
  },
  {
    files: ['**/*.test.ts', '**/test/**/*.ts'],
    rules: {
      'max-lines': ['error', { max: 500, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
  {
    files: ['**/*.mjs', '**/*.js'],
    languageOptions: { globals: { process: 'readonly', console: 'readonly' } },
  },
)
