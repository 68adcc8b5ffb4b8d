import { afterAll, beforeEach, expect, test, vi } from 'vitest'
import { createTestDatabase } from '../../../../test/support/database.ts'
import { createPosture, type Posture } from '../../../../test/support/posture-fixtures.ts'
import { BUILT_IN_RELEASE_DATA, RELEASE_SECTIONS } from '../catalogue/release-data.ts'
import { readReleaseDataAges, warnOfStaleReleaseData } from './release-data-health.ts'
import { upsertReleaseData } from './release-data-store.ts'
import {
  findReleaseDataInUse,
  importReleaseData,
  resetReleaseData,
  syncReleaseData,
} from './use-release-data.ts'
import { emptyTables } from '../../../../test/support/empty-tables.ts'

const database = await createTestDatabase()
const { db } = database
afterAll(() => database.close())

let posture: Posture
beforeEach(async () => {
  await emptyTables(db, 'device', 'posture_check', 'check_tag', 'release_data')
  posture = createPosture(db)
  await posture.change(syncReleaseData)
})

const NEWER = {
  ...BUILT_IN_RELEASE_DATA,
  date: '2099-01-02',
  browsers: { ...BUILT_IN_RELEASE_DATA.browsers, as_of: '2099-01-01', chrome: 900 },
}
const readChrome = () =>
  db
    .selectFrom('posture_check')
    .select(['revision', 'description', 'queries'])
    .where('slug', '=', 'chrome-up-to-date')
    .executeTakeFirstOrThrow()
const listAudit = () =>
  db
    .selectFrom('audit_entry')
    .select(['action', 'after'])
    .where('action', 'like', 'release_data.%')
    .execute()

test('a new installation uses what the service comes with', async () => {
  expect(await findReleaseDataInUse(db)).toEqual({
    data: BUILT_IN_RELEASE_DATA,
    origin: { kind: 'built_in' },
  })
})

test('data from a file changes the checks at once, which run anew, and is audited', async () => {
  const before = await readChrome()
  const { updated } = await posture.change((change) => importReleaseData(change, NEWER))
  expect(updated).toEqual(['chrome-up-to-date', 'edge-up-to-date', 'firefox-up-to-date'])
  const after = await readChrome()
  expect(after.revision).toBe(before.revision + 1)
  expect(after.description).toContain('900')
  expect(after.queries.linux).toContain('as of 2099-01-01')
  expect(await findReleaseDataInUse(db)).toMatchObject({
    data: NEWER,
    origin: { kind: 'imported' },
  })
  expect(await listAudit()).toMatchObject([
    { action: 'release_data.imported', after: { date: '2099-01-02' } },
  ])
})

test('the next start of a process keeps it, and the same file again changes nothing', async () => {
  await posture.change((change) => importReleaseData(change, NEWER))
  const unchanged = { added: [], updated: [], retired: [] }
  expect(await posture.change(syncReleaseData)).toEqual(unchanged)
  expect(await posture.change((change) => importReleaseData(change, NEWER))).toEqual(unchanged)
})

test('a file with a mistake is mended by another of the same day', async () => {
  await posture.change((change) => importReleaseData(change, NEWER))
  const mended = { ...NEWER, browsers: { ...NEWER.browsers, chrome: 145 } }
  await posture.change((change) => importReleaseData(change, mended))
  expect((await readChrome()).description).toContain('145')
})

test('reset goes back to what the service comes with', async () => {
  const before = await readChrome()
  await posture.change((change) => importReleaseData(change, NEWER))
  await posture.change(resetReleaseData)
  expect((await readChrome()).queries).toEqual(before.queries)
  expect((await findReleaseDataInUse(db)).origin).toEqual({ kind: 'built_in' })
})

test('what is older than what the service comes with is refused, and counts no longer after an upgrade', async () => {
  const older = { ...BUILT_IN_RELEASE_DATA, date: '2020-01-01' }
  const dated = {
    ...older,
    ...Object.fromEntries(
      RELEASE_SECTIONS.map((name) => [name, { ...older[name], as_of: '2020-01-01' }]),
    ),
  }
  await expect(posture.change((change) => importReleaseData(change, dated))).rejects.toMatchObject({
    code: 'conflict',
  })
  await posture.change((change) =>
    upsertReleaseData(change.tx, { content: dated, importedAt: change.at, importedBy: 'x' }),
  )
  expect((await findReleaseDataInUse(db)).origin).toEqual({ kind: 'built_in' })
})

test('what this version cannot read does not keep it from starting', async () => {
  await posture.change((change) =>
    upsertReleaseData(change.tx, {
      content: { format: 9 },
      importedAt: change.at,
      importedBy: 'x',
    }),
  )
  expect((await findReleaseDataInUse(db)).origin).toEqual({ kind: 'built_in' })
})

test('what is out of date is logged by its parts, and its age is a metric', async () => {
  const warn = vi.fn<(facts: object, message: string) => void>()
  const oldest = RELEASE_SECTIONS.map((name) => BUILT_IN_RELEASE_DATA[name].as_of).sort()[0]!
  const fresh = { now: () => new Date(oldest) }
  await warnOfStaleReleaseData(db, { clock: fresh, log: { warn } })
  expect(warn).not.toHaveBeenCalled()
  const now = new Date(Date.parse(BUILT_IN_RELEASE_DATA.browsers.as_of) + 91 * 86_400_000)
  await warnOfStaleReleaseData(db, { clock: { now: () => now }, log: { warn } })
  expect(warn).toHaveBeenCalledOnce()
  const [facts, message] = warn.mock.calls[0]!
  expect(facts).toMatchObject({ as_of: { browsers: BUILT_IN_RELEASE_DATA.browsers.as_of } })
  expect(message).toContain('out of date')
  expect((await readReleaseDataAges(db, now)).get('browsers')).toBe(91)
})
