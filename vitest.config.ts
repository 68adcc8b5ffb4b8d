import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { useMemoryFolder } from './packages/server/test/support/memory-folder.ts'

useMemoryFolder()

const conditions = ['source']
const source = {
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  environments: { __vitest__: { resolve: { conditions } } },
}

/** For a test that hangs. Far above what any takes, so that a busy machine fails none. */
const LIMIT_MS = 300_000
/** Waits of these end when nothing has moved for long (`wait-until-none-left.ts`), not at a total. */
const E2E_LIMIT_MS = 30 * 60_000

const PROJECTS = ['e2e', 'db', 'unit']

/** What takes its time however small the file and however fast the machine is. */
const TIMED = [
  'demo.e2e.test.ts',
  'simulator/src/fleet.test.ts',
  'db/read-replica.test.ts',
  'cli/simulate-command.test.ts',
  'http/health.test.ts',
  'secrets/passphrase-box.test.ts',
]

/**
 * Long files first, so that the short ones fill what is left of the workers at the end: whole processes, then what uses
 * the service as a whole, with a browser most of it, and of each suite first what takes its time.
 */
class LongestSuiteFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).sort((left, right) => placeOf(left) - placeOf(right))
  }
}

function placeOf({ project, moduleId }: TestSpecification): number {
  const isTimed = TIMED.some((name) => moduleId.endsWith(name))
  const isWhole = moduleId.includes('/test/')
  return PROJECTS.indexOf(project.name) + (isTimed ? 0 : isWhole ? 0.1 : 0.2)
}

/** What all suites share. */
const shared = {
  // Most objects of a test die young: with more room for them, collecting takes a tenth less of the CPU time. A worker
  // waits often and keeps its modules: collecting while it waits, and before its heap is half a gigabyte, frees little.
  execArgv: ['--max-semi-space-size=64', '--no-memory-reducer', '--initial-old-space-size=512'],
  setupFiles: ['packages/server/test/support/patient-waits.ts'],
  expect: { poll: { timeout: 90_000 } },
}

/** Three suites: `unit` does no I/O, `db` runs on real PostgreSQL, `e2e` runs real processes. */
export default defineConfig({
  test: {
    reporters: ['default'],
    // A worker waits for a database, a browser or a service that it has started: two more than there are processors.
    // All share the connections of one server.
    maxWorkers: Math.min(8, availableParallelism() + 2),
    sequence: { sequencer: LongestSuiteFirst },
    projects: [
      {
        ...source,
        test: {
          name: 'unit',
          ...shared,
          testTimeout: LIMIT_MS,
          isolate: false,
          include: [
            'packages/*/{src,bench,generate}/**/*.test.ts',
            'packages/*/test/**/*.test.ts',
            'test/**/*.test.ts',
          ],
          exclude: ['**/*.db.test.ts', '**/*.e2e.test.ts', '**/node_modules/**', '**/dist/**'],
        },
      },
      {
        ...source,
        test: {
          name: 'db',
          ...shared,
          // Modules are loaded once per worker, not for every file; they keep no state of their own.
          isolate: false,
          include: ['packages/*/src/**/*.db.test.ts', 'packages/*/test/**/*.db.test.ts'],
          globalSetup: ['packages/server/test/support/postgres-global-setup.ts'],
          testTimeout: LIMIT_MS,
          hookTimeout: 2 * LIMIT_MS,
        },
      },
      {
        ...source,
        test: {
          name: 'e2e',
          ...shared,
          include: ['packages/*/test/e2e/**/*.e2e.test.ts'],
          globalSetup: ['packages/server/test/e2e/support/prepared-folder-global-setup.ts'],
          testTimeout: E2E_LIMIT_MS,
          hookTimeout: E2E_LIMIT_MS,
        },
      },
    ],
  },
})
