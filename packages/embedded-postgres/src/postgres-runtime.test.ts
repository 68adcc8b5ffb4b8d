import { expect, onTestFinished, test, vi } from 'vitest'
import { DatabaseStartError } from './database-start-error.ts'
import { findRuntimePackage, hostSystem } from './postgres-runtime.ts'

test.each([
  ['Windows', { platform: 'win32', arch: 'x64', isMusl: false }, /Windows/],
  ['a system with the musl C library', { platform: 'linux', arch: 'x64', isMusl: true }, /Alpine/],
  [
    'a processor without programs',
    { platform: 'linux', arch: 's390x', isMusl: false },
    /linux-s390x/,
  ],
] as const)('tells to set DATABASE_URL on %s', (_, system, reason) => {
  expect(() => findRuntimePackage(system)).toThrow(DatabaseStartError)
  expect(() => findRuntimePackage(system)).toThrow(reason)
  expect(() => findRuntimePackage(system)).toThrow(/Set DATABASE_URL to a PostgreSQL 15 or newer/)
})

test.skipIf(process.platform !== 'linux')(
  'finds the C library, not asking about connections',
  () => {
    const asksNothing = () => Reflect.get(process.report, 'excludeNetwork') === true
    const getReport = vi.spyOn(process.report, 'getReport')
    getReport.mockImplementation(() => ({
      header: asksNothing() ? { glibcVersionRuntime: '2.41' } : {},
    }))
    onTestFinished(() => getReport.mockRestore())
    expect(hostSystem().isMusl).toBe(false)
    expect(asksNothing()).toBe(false)
  },
)
