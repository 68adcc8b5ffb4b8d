import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DatabaseNetwork } from '../platform/db/database-network.ts'
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts'
import { startVanishingProxy } from '../../test/support/vanishing-proxy.ts'
import { toUrl } from '../../test/support/to-url.ts'
import { assertOneDatabase, leadsReportsToOneDatabase } from './assert-one-database.ts'

let own: TestDatabase
let other: TestDatabase

beforeAll(async () => {
  own = await createTestDatabase({ isEmpty: true })
  other = await createTestDatabase({ isEmpty: true })
})
afterAll(async () => {
  await own.close()
  await other.close()
})

const NONE = {
  databaseSessionUrl: undefined,
  migrationDatabaseUrl: undefined,
  reportingDatabaseUrl: undefined,
}

/** Connects in turn as these connect, and as the last from then on. */
class MovingNetwork extends DatabaseNetwork {
  looks = 0
  readonly #places: readonly TestDatabase[]

  constructor(places: readonly TestDatabase[]) {
    super()
    this.#places = places
  }

  override settings(...[, silentMaxMs]: Parameters<DatabaseNetwork['settings']>) {
    const place = this.#places[Math.min(this.looks++, this.#places.length - 1)] ?? own
    return super.settings(place.connection, silentMaxMs)
  }
}

describe('an address that leads elsewhere for a moment, as in a failover', () => {
  const config = { ...NONE, databaseSessionUrl: 'postgres://moving/heliograph' }

  it('is looked at once more before a start is refused', async () => {
    const network = new MovingNetwork([other, own])
    await assertOneDatabase({ config, db: own.db, network })
    expect(network.looks).toBe(2)
  })

  it('is refused when it still does', async () => {
    const network = new MovingNetwork([other])
    const refused = assertOneDatabase({ config, db: own.db, network })
    await expect(refused).rejects.toThrow('HELIOGRAPH_DATABASE_SESSION_URL leads to another')
    expect(network.looks).toBe(2)
  })
})

describe('an address of reports', () => {
  const assertReports = (reportingDatabaseUrl: string) =>
    assertOneDatabase({
      config: { ...NONE, reportingDatabaseUrl },
      db: own.db,
      network: new DatabaseNetwork(),
    })

  it('of another database is refused, also where a role of the same name may read there', async () => {
    const refused = assertReports(toUrl(other.reporting.connection))
    await expect(refused).rejects.toThrow('HELIOGRAPH_REPORTING_DATABASE_URL leads to another')
  })

  it('of the same database is taken, also of a role that is told to read only', async () => {
    const url = toUrl(own.reporting.connection)
    await assertReports(url)
    const options = '-c default_transaction_read_only=on'
    await assertReports(
      `${url}${url.includes('?') ? '&' : '?'}options=${encodeURIComponent(options)}`,
    )
  })

  it('where a server is silent is not waited for longer than its reader may wait', async () => {
    const proxy = await startVanishingProxy(own.reporting.connection)
    proxy.vanish()
    const ended = leadsReportsToOneDatabase(own.db, new DatabaseNetwork(), {
      url: proxy.url,
      signal: AbortSignal.timeout(50),
    })
    // A server that is given up for its silence is told as that.
    await expect(ended).rejects.toThrow('it was closed before it was open')
    await proxy.close()
  })

  it('where nobody answers holds no start up', async () => {
    await assertReports('postgres://reader@127.0.0.1:1/heliograph')
  })
})
