import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { toCondition } from './scim-condition-read.ts'
import { listGroups, toGroupColumns } from './scim-group-store.ts'
import { GROUP_TYPE, USER_TYPE } from './scim-schema.ts'
import { listUsers, toUserColumns } from './scim-user-store.ts'

const PEOPLE = 5_000
/** A list reads the rows and their number. */
const READS = 2

const list = { users: listUsers, groups: listGroups }
const types = { users: USER_TYPE, groups: GROUP_TYPE }
const columns = { users: toUserColumns('/scim/v2'), groups: toGroupColumns('/scim/v2') }
const tables = { users: 'person', groups: 'person_group' }

let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
  const { db } = database
  // The identity provider knows three of four people, every tenth of all has left.
  await sql`
    insert into person (name, email, user_name, external_id, deprovisioned_at, created_at, updated_at)
    select 'Person ' || n, 'person' || n || '@example.com',
      case when n % 4 > 0 then 'User' || n end, case when n % 4 > 0 then 'external' || n end,
      case when n % 10 = 0 then now() end, now(), now()
    from generate_series(1, ${sql.lit(PEOPLE)}) n`.execute(db)
  await sql`
    insert into person_group (name, external_id, created_at, updated_at)
    select 'Group ' || n, 'external' || n, now(), now()
    from generate_series(1, ${sql.lit(PEOPLE)}) n`.execute(db)
  await sql`analyze person, person_group`.execute(db)
})
afterAll(() => database.close())

/** How many rows a list touches in its table to find what it answers. */
function look(kind: keyof typeof tables, filter: string) {
  return database.db.transaction().execute(async (tx) => {
    const countTouched = async () => {
      const { rows } = await sql<{ touched: number }>`
        select (seq_tup_read + idx_tup_fetch)::int as touched from pg_stat_xact_user_tables
        where relid = ${tables[kind]}::regclass`.execute(tx)
      return rows[0]?.touched ?? 0
    }
    // The server keeps a while what the connection touched before.
    const before = await countTouched()
    const condition = toCondition(types[kind], filter, columns[kind])
    const { total } = await list[kind](tx, condition, { startIndex: 1, count: 100 })
    return { total, touched: (await countTouched()) - before }
  })
}

describe('what an identity provider looks for is found without reading everybody', () => {
  it.each([
    ['users', 'userName eq "USER7"'],
    // Nobody provisioned them: their address stands for the name.
    ['users', 'userName eq "PERSON8@example.com"'],
    ['users', 'userName eq "person20@example.com"'],
    ['users', 'externalId eq "external9"'],
    ['users', 'userName eq "user7" and active eq true'],
    ['users', 'userName eq "user7" or externalId eq "external7"'],
    ['groups', 'displayName eq "GROUP 7"'],
    ['groups', 'externalId eq "external9"'],
  ] as const)('%s: %s', async (kind, filter) => {
    expect(await look(kind, filter)).toEqual({ total: 1, touched: READS })
  })

  it.each(['users', 'groups'] as const)('%s by id', async (kind) => {
    const id = await sql<{ id: string }>`
      select max(id) as id from ${sql.table(tables[kind])}`.execute(database.db)
    const filter = `id eq "${id.rows[0]?.id ?? ''}"`
    expect(await look(kind, filter)).toEqual({ total: 1, touched: READS })
  })
})
