import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

const source = { resolve: { conditions: ['source'] }, ssr: { resolve: { conditions: ['source'] } } }

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
          testTimeout: 30_000,
          isolate: false,
          include: [
            'packages/*/{src,bench}/**/*.test.ts',
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
          // Modules are loaded once per worker, not for every file; they keep no state of their own.
          isolate: false,
          include: ['packages/*/src/**/*.db.test.ts', 'packages/*/test/**/*.db.test.ts'],
          globalSetup: ['packages/server/test/support/postgres-global-setup.ts'],
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      {
        ...source,
        test: {
          name: 'e2e',
          include: ['packages/*/test/e2e/**/*.e2e.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
})
