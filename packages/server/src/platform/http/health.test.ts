import fastify from 'fastify'
import { expect, it, vi } from 'vitest'
import { askingDatabase, registerHealth, type ReadinessCheck } from './health.ts'

const refused = () =>
  Promise.reject(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }))
const away = askingDatabase(refused)
const hanging = () => new Promise<void>(() => undefined)
const silent = askingDatabase(hanging)
const broken = () => Promise.reject(new Error('no key can sign'))
const full = askingDatabase(() =>
  Promise.reject(Object.assign(new Error('could not extend file'), { code: '53100' })),
)
const well = () => Promise.resolve()

async function look(checks: Readonly<Record<string, ReadinessCheck>>) {
  const http = fastify()
  const warn = vi.fn()
  http.addHook('onRequest', (request, _reply, done) => {
    request.log.warn = warn
    done()
  })
  registerHealth(http, checks)
  const { statusCode, body } = await http.inject({ url: '/readyz' })
  await http.close()
  const told = warn.mock.calls.map(([fields]) => (fields as { check: string }).check)
  return { statusCode, checks: (JSON.parse(body) as { checks: object }).checks, told }
}

it('a database that is away is named once, as the cause, and what it keeps from being looked at is unknown', async () => {
  expect(
    await look({ database_writes: away, database: away, master_key: away, signing_keys: well }),
  ).toEqual({
    statusCode: 503,
    checks: {
      database_writes: 'unknown',
      database: 'failed',
      master_key: 'unknown',
      signing_keys: 'ok',
    },
    told: ['database'],
  })
})

it('so is one that does not answer', async () => {
  const { checks, told } = await look({ database: silent, master_key: silent })
  expect(checks).toEqual({ database: 'failed', master_key: 'unknown' })
  expect(told).toEqual(['database'])
})

it('what fails for itself is told beside it', async () => {
  const { checks, told } = await look({
    database: away,
    database_writes: full,
    signing_keys: broken,
  })
  expect(checks).toEqual({ database: 'failed', database_writes: 'failed', signing_keys: 'failed' })
  expect(told).toEqual(['database', 'database_writes', 'signing_keys'])
})

it.each([
  ['does not answer', hanging],
  ['is refused by something else', refused],
])('what asks no database and %s is told beside a database that is away', async (_name, check) => {
  const { checks, told } = await look({ database: away, release_server: check })
  expect(checks).toEqual({ database: 'failed', release_server: 'failed' })
  expect(told).toEqual(['database', 'release_server'])
})

it('a check that the database does not answer fails by itself while the database answers others', async () => {
  const { statusCode, checks } = await look({ database: well, delivery: away })
  expect([statusCode, checks]).toEqual([503, { database: 'ok', delivery: 'failed' }])
})
