import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

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

/** What all suites share. */
const patience = {
  setupFiles: ['packages/server/test/support/patient-waits.ts'],
  expect: { poll: { timeout: 90_000 } },
}

/** Three suites: `unit` does no I/O, `db` runs on real PostgreSQL, `e2e` runs real processes. */
export default defineConfig({
  test: {
    reporters: ['default'],
    // Most of the time a worker waits for a database or a service that it has started; all share
    // the connections of one server.
    maxWorkers: Math.min(8, Math.max(2, availableParallelism())),
    projects: [
      {
        ...source,
        test: {
          name: 'unit',
          ...patience,
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
          ...patience,
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
          ...patience,
          include: ['packages/*/test/e2e/**/*.e2e.test.ts'],
          testTimeout: E2E_LIMIT_MS,
          hookTimeout: E2E_LIMIT_MS,
        },
      },
    ],
  },
})
