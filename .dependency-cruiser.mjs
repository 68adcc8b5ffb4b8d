/*
 * The order of the wings of the service: an import goes down this list, never up, and nothing imports
 * in a circle, types included. `npm run graph` draws it; `npm run check` holds it.
 */
const SOURCES = 'packages/server/src'

/** From the top of the house to its ground. */
export const WINGS = [
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
  'platform',
]

const isTest = '\\.test\\.ts$'

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...WINGS.slice(1).map((wing, index) => ({
      name: `${wing}-imports-up`,
      comment: `${wing}/ imports only what stands below it: ${WINGS.slice(index + 2).join(', ')}.`,
      severity: 'error',
      from: { path: `^${SOURCES}/${wing}/`, pathNot: isTest },
      to: { path: `^${SOURCES}/(main\\.ts|(${WINGS.slice(0, index + 1).join('|')})/)` },
    })),
    {
      name: 'no-circle',
      comment: 'Files that need each other belong together or need a third one.',
      severity: 'error',
      from: { path: '^packages/[^/]+/src/' },
      to: { circular: true },
    },
    {
      name: 'shipped-code-imports-no-benchmark-and-no-test',
      severity: 'error',
      from: { path: '^packages/[^/]+/src/', pathNot: [isTest, '/test/'] },
      to: { path: '^packages/[^/]+/(bench|test)/|\\.test\\.ts$' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules|^packages/[^/]+/dist' },
    exclude: { path: '\\.test\\.ts$' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: { conditionNames: ['source', 'import', 'node', 'default'] },
    reporterOptions: { dot: { collapsePattern: `^${SOURCES}/[^/]+` } },
  },
}
