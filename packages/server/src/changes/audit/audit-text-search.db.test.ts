import fc from 'fast-check'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestAuditLog, type TestAuditLog } from '../../../test/support/audit-log.ts'
import { countRowsRead } from '../../../test/support/rows-read.ts'
import { parseSearch } from '../../platform/search/parse-search.ts'
import { escapeLikePattern } from '../../platform/search/search-to-sql.ts'
import { SYSTEM_ACTOR } from './audit-entry.ts'
import { AUDIT_LIST } from './audit-read.ts'
import { summariseTexts } from './chain/chain-store.ts'
import { EntryLinker } from './chain/link-audit-entries.ts'
import { cutAuditChain } from './cut-audit-chain.ts'

const WINDOW = { afterId: '0', limit: 1_000 }
/** As many are looked at one by one, whatever is looked for. */
const NEAR_ROWS = 5_000

let log: TestAuditLog

beforeEach(async () => {
  log = await createTestAuditLog()
})

afterEach(() => log.close())

async function record(descriptions: readonly string[]): Promise<void> {
  await log.runChange({ actor: SYSTEM_ACTOR }, async (change) => {
    for (const description of descriptions) {
      change.recordAudit({ action: 'test.recorded', target: null, description })
    }
  })
}

/** Everything so far is in the chain, and nothing before it is still to come. */
async function settle(): Promise<void> {
  await log.chainer.flush()
  await sql`select settle_audit_entries(max(sequence)) from audit_entry`.execute(log.db)
}

async function summariseAll(): Promise<void> {
  while (await log.db.transaction().execute(summariseTexts));
}

async function find(query: string): Promise<string[]> {
  const search = parseSearch(query, AUDIT_LIST.fields)
  const rows = await AUDIT_LIST.listPage(log.db, { search, window: WINDOW })
  return rows.map(({ description }) => description)
}

async function countBlocks(): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from audit_description_block`.execute(log.db)
  return rows[0]?.count ?? 0
}

const quote = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`

const ODD = [
  'renamed  the group  with two spaces',
  ' begins and ends with one ',
  'a line\nand another\tcolumn',
  'costs 50% of a_b and back\\slash',
  'Größe und ÄRGER in Übermaß',
  'Sparrow',
  'Sparrow: changed the status of SN-000-42, then left.',
]

describe('searching descriptions', () => {
  const parts = [
    ...['renamed', 'the group', 'group  with', ' begins', 'one ', 'line\nand', 'e\nand another'],
    ...[
      '50% of',
      'a_b',
      'back\\slash',
      '\\',
      'größe',
      'ärger in',
      'sparrow',
      'SN-000-42,',
      'status of SN',
      'w: ch',
    ],
    ...['entry 7', 'try 70', 'a', 'qz', ' ', '  ', 'of of', 'the left', 'zzz'],
  ]

  it('finds what it finds when every entry is read, whether their texts are summarised or not', async () => {
    await record(Array.from({ length: 70 }, (_, index) => `entry ${index}`))
    await record(ODD)
    await record(Array.from({ length: 70 }, (_, index) => `other ${index} of 70`))
    const everything = await find('description~""')
    expect(everything).toHaveLength(147)
    const expectEach = async () => {
      for (const part of parts) {
        const meant = everything.filter((text) => text.toLowerCase().includes(part.toLowerCase()))
        expect(await find(`description~${quote(part)}`), part).toEqual(meant)
        const both = await find(`description~${quote(part)} AND actor_name~"Helio"`)
        expect(both, part).toEqual(meant)
        const either = await find(`description~${quote(part)} OR description:"Sparrow"`)
        const isMeant = (text: string) => meant.includes(text) || text === 'Sparrow'
        expect(either, part).toEqual(everything.filter(isMeant))
      }
      for (const text of [...ODD, 'entry 7', 'entry', 'entry 7 ']) {
        const meant = everything.filter((each) => each === text)
        expect(await find(`description:${quote(text)}`), text).toEqual(meant)
      }
    }
    await expectEach()
    await settle()
    await summariseAll()
    expect(await countBlocks()).toBe(4)
    await expectEach()
  })

  it('finds an entry as soon as its change has committed', async () => {
    await record(['one of a device'])
    expect(await find('description~"a device"')).toEqual(['one of a device'])
  })

  it('does not look at the entries of a block that has not the text', async () => {
    await record(Array.from({ length: 64 }, (_, index) => `entry ${index}`))
    await settle()
    await log.db.transaction().execute(summariseTexts)
    await sql`update audit_description_block set texts = ' nothing '`.execute(log.db)
    // What is read without its block is of the last entries, which are in none.
    expect(await find('description~"entry"')).toEqual(['entry 63'])
  })

  it('reads no entry for a phrase that none has, although all blocks have its words', async () => {
    const said = ['changed the owner of', 'asked for the deletion of', 'renamed the group']
    await record(Array.from({ length: 9_600 }, (_, index) => `${said[index % 3]} SN${index}`))
    await settle()
    await summariseAll()
    await sql`vacuum analyze audit_entry, audit_description_block`.execute(log.db)
    for (const search of [
      'description~"asked the owner"',
      'description:"renamed the group SN"',
      'description~"renamed the owner" OR description~"group SN of"',
      'description~"renamed the owner" AND actor_name~"Helio"',
    ]) {
      for (const isDescending of [false, true]) {
        const window = { afterId: undefined, limit: 26, isDescending }
        const read = await countRowsRead(log.database, { list: AUDIT_LIST, search, window })
        expect(read, search).toBeLessThan(NEAR_ROWS + 100)
        const table = 'audit_description_block'
        const page = { list: AUDIT_LIST, search, window, table }
        const phrases = search.split('description').length - 1
        // Each is looked for in all of them, once.
        const blocksRead = await countRowsRead(log.database, page)
        expect(blocksRead, search).toBeLessThan(phrases * 320)
      }
    }
  })

  it('finds what comparing every entry finds, whatever is looked for', async () => {
    const words = fc.constantFrom(
      'SN-',
      '0',
      '42',
      '7',
      ' ',
      '  ',
      '\n',
      'Ä',
      'ß',
      'İ',
      '_',
      '%',
      '\\',
      'a',
      'To',
    )
    const texts = (maxLength: number) =>
      fc.array(words, { minLength: 1, maxLength }).map((parts) => parts.join(''))
    await record(fc.sample(texts(6), { numRuns: 640, seed: 1 }))
    await settle()
    await summariseAll()
    const everything = await find('description~""')
    await fc.assert(
      fc.asyncProperty(texts(3), fc.constantFrom(...everything), async (part, whole) => {
        const { rows } = await sql<{ description: string }>`
          select description from audit_entry
          where description ilike ${`%${escapeLikePattern(part)}%`} order by sequence`.execute(
          log.db,
        )
        expect(await find(`description~${quote(part)}`)).toEqual(
          rows.map(({ description }) => description),
        )
        const equal = everything.filter((text) => text === whole)
        expect(await find(`description:${quote(whole)}`)).toEqual(equal)
      }),
      { numRuns: 100 },
    )
  })

  it('finds the last entries first, behind many others, from the end and from the middle', async () => {
    await record(Array.from({ length: 1_600 }, (_, index) => `early ${index % 50} of ${index}`))
    await record(Array.from({ length: 5_100 }, (_, index) => `late ${index}`))
    await settle()
    await summariseAll()
    const findBefore = async (query: string, afterId: string | undefined) => {
      const search = parseSearch(query, AUDIT_LIST.fields)
      const window = { afterId, limit: 7, isDescending: true }
      const rows = await AUDIT_LIST.listPage(log.db, { search, window })
      return rows.map(({ description, sequence }) => ({ description, sequence }))
    }
    // Two words that blocks have, and few entries together; and one that every entry has.
    for (const [part, step] of [
      ['early 7 of', 50],
      ['early', 1],
    ] as const) {
      const offset = part === 'early' ? 0 : 7
      const all = Array.from(
        { length: 1_600 / step },
        (_, index) => 1_600 - step * (index + 1) + offset,
      )
      const meant = all.map((index) => `early ${index % 50} of ${index}`)
      const first = await findBefore(`description~"${part}"`, undefined)
      expect(first.map(({ description }) => description)).toEqual(meant.slice(0, 7))
      const second = await findBefore(`description~"${part}"`, first.at(-1)?.sequence)
      expect(second.map(({ description }) => description)).toEqual(meant.slice(7, 14))
    }
    expect(await findBefore('description~"early 7 of 75"', undefined)).toHaveLength(1)
  })

  it('is made ready by whoever chains, in steps, as after an upgrade', async () => {
    for (let batch = 0; batch < 5; batch += 1) {
      await record(Array.from({ length: 2_000 }, (_, index) => `entry ${index} of ${batch}`))
    }
    await settle()
    await sql`delete from audit_description_block`.execute(log.db)
    const linker = new EntryLinker(log.db)
    const outcomes = [await linker.runRound(), await linker.runRound()]
    expect(outcomes).toEqual(['more', 'done'])
    expect(await countBlocks()).toBe(Math.floor(10_001 / 32))
    expect(await find('description~"entry 1999 of 0"')).toEqual(['entry 1999 of 0'])
  })

  it('keeps no words of entries that were cut', async () => {
    log.clock.set('2020-01-01T00:00:00Z')
    await log.record(600)
    await log.checkpoint()
    await settle()
    await log.db.transaction().execute(summariseTexts)
    await cutAuditChain(log, new Date('2020-06-01T00:00:00Z'))
    const { rows } = await sql<{ first: number; last: number }>`
      select min(block)::int as first, max(block)::int as last from audit_description_block`.execute(
      log.db,
    )
    expect(rows).toEqual([{ first: 512 >> 5, last: (600 >> 5) - 1 }])
  })
})
