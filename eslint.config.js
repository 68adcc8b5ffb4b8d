import js from '@eslint/js'
import tseslint from 'typescript-eslint'

/** What the sources of the service may do in certain places only. */
const PROCESS_RULES = [
  {
    selector: "NewExpression[callee.name='Date'][arguments.length=0]",
    message: 'Take the time from the Clock that is passed in (platform/clock.ts).',
  },
  {
    selector: "CallExpression[callee.object.name='Date'][callee.property.name='now']",
    message: 'Take the time from the Clock that is passed in (platform/clock.ts).',
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
]

/** A file that runs SQL says so by its name. */
const SQL_RULES = [
  {
    selector:
      'CallExpression[callee.property.name=/^(selectFrom|insertInto|updateTable|deleteFrom|mergeInto)$/]',
    message: 'SQL stands in *-store.ts and *-read.ts.',
  },
  {
    selector: "TaggedTemplateExpression[tag.name='sql']",
    message: 'SQL stands in *-store.ts and *-read.ts.',
  },
]

const RECEIVER_AND_SIMULATOR = {
  group: ['@heliograph/receiver', '@heliograph/simulator'],
  message: 'Only the command line and the tests use the receiver and the simulator.',
}

/** What speaks HTTP: surfaces, and the files of a wing that map the wire to its use cases. */
const HTTP = {
  group: ['fastify', '**/platform/http/**', '**/schema/operations.ts'],
  message:
    'HTTP stands in surfaces/ and in *-routes, *-endpoints, *-surface, *-json and *-input files.',
}

/** The declarations that take any text as a permission. */
const UNBOUND_ROUTES = {
  group: ['**/platform/http/route.ts', '**/platform/http/list-route.ts'],
  message: 'Routes are declared with schema/operations.ts, which knows the permissions.',
}

export default tseslint.config(
  {
    ignores: [
      '**/dist/**',
      '**/node_modules/**',
      'data/**',
      'packages/console/src/api/generated/**',
      'packages/server/console/**',
    ],
  },
  js.configs.recommended,
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: {
      parserOptions: {
        projectService: {
          allowDefaultProject: ['vitest.config.ts', 'packages/console/*.config.ts'],
        },
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
      // Prettier breaks code, and no comment.
      'max-len': ['error', { code: 10_000, comments: 120, ignoreUrls: true }],
      'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 70, skipBlankLines: true, skipComments: true }],
      'max-params': ['error', 5],
      'no-console': 'error',
    },
  },
  {
    files: ['packages/console/**/*.tsx'],
    // A component says what it shows; markup takes lines.
    rules: {
      'max-lines-per-function': ['error', { max: 140, skipBlankLines: true, skipComments: true }],
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
      'no-restricted-imports': ['error', { patterns: [RECEIVER_AND_SIMULATOR, HTTP] }],
      'no-restricted-syntax': ['error', ...PROCESS_RULES, ...SQL_RULES],
    },
  },
  {
    files: ['packages/server/src/**/*-{routes,endpoints,endpoint,surface,json,input,part}.ts'],
    ignores: ['**/*.test.ts'],
    rules: {
      'no-restricted-imports': ['error', { patterns: [RECEIVER_AND_SIMULATOR, UNBOUND_ROUTES] }],
    },
  },
  {
    files: [
      'packages/server/src/{app,surfaces,platform}/**/*.ts',
      'packages/server/src/schema/operations.ts',
    ],
    ignores: ['**/*.test.ts'],
    rules: { 'no-restricted-imports': ['error', { patterns: [RECEIVER_AND_SIMULATOR] }] },
  },
  {
    files: [
      'packages/server/src/{platform,schema}/**/*.ts',
      'packages/server/src/**/*-{store,read}.ts',
    ],
    ignores: ['**/*.test.ts'],
    rules: { 'no-restricted-syntax': ['error', ...PROCESS_RULES] },
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
    // What runs in browsers, on the pages for people.
    files: ['packages/server/src/sign-in/pages/assets/*.js'],
    languageOptions: {
      globals: Object.fromEntries(
        [
          ...['window', 'document', 'navigator', 'location', 'fetch', 'CSS', 'DOMParser'],
          ...['EventSource', 'FormData', 'URLSearchParams', 'setTimeout', 'clearTimeout'],
          ...['setInterval', 'clearInterval', 'AbortController', 'AbortSignal'],
          ...['crypto', 'indexedDB', 'TextEncoder', 'btoa'],
        ].map((name) => [name, 'readonly']),
      ),
    },
  },
  {
    files: ['**/*.mjs', '**/*.js'],
    languageOptions: { globals: { process: 'readonly', console: 'readonly' } },
  },
)
