import { describe, expect, it, vi } from 'vitest'
import { expandQuery, expandRecords, type Expansions, type LoadRecords } from './expand.ts'

function loader(known: readonly string[]) {
  return vi.fn<LoadRecords>(
    async (ids) => new Map(ids.filter((id) => known.includes(id)).map((id) => [id, { id }])),
  )
}

function setUp() {
  const load = { owner: loader(['1', '2']), check: loader(['7']), issues: loader(['3', '4']) }
  const expansions: Expansions = {
    owner: { member: 'owner_info', load: load.owner },
    check: { member: 'check_id', into: 'check', load: load.check },
    issues: { member: 'issues', load: load.issues },
  }
  return { load, expansions }
}

const link = (identifier: string | number) => ({ identifier, link: `https://x/${identifier}` })

describe('what is asked for', () => {
  it.each(['', ' ', ',', 'owner', 'owner,check', ' owner , check ', 'owner,owner'])(
    'takes %j',
    (expand) => {
      expect(expandQuery(setUp().expansions).safeParse({ expand }).success).toBe(true)
    },
  )

  it('refuses what cannot be expanded and names what can', () => {
    const { error } = expandQuery(setUp().expansions).safeParse({ expand: 'owner,person' })
    expect(error?.issues[0]?.message).toBe(
      '"person" cannot be expanded here. Allowed: owner, check, issues.',
    )
  })
})

describe('expanding', () => {
  it('reads each collection once, each id once, and nothing that was not asked for', async () => {
    const { load, expansions } = setUp()
    const records = [link('1'), link('2'), link('1')].map((owner_info) => ({ owner_info }))
    const expanded = await expandRecords(records, 'owner', expansions)
    expect(expanded).toEqual([
      { owner_info: { ...link('1'), record: { id: '1' } } },
      { owner_info: { ...link('2'), record: { id: '2' } } },
      { owner_info: { ...link('1'), record: { id: '1' } } },
    ])
    expect(load.owner.mock.calls).toEqual([[['1', '2']]])
    expect(load.check).not.toHaveBeenCalled()
  })

  it('leaves links to nothing and to records that are gone as they are', async () => {
    const { load, expansions } = setUp()
    const records = [
      { owner_info: { identifier: '', link: null } },
      { owner_info: link('9') },
      { other: 1 },
    ]
    expect(await expandRecords(records, 'owner', expansions)).toEqual(records)
    expect(load.owner.mock.calls).toEqual([[['9']]])
    expect(await expandRecords([records[0] ?? {}], 'owner', expansions)).toHaveLength(1)
    expect(load.owner).toHaveBeenCalledTimes(1)
  })

  it('follows lists of links, integers, and ids', async () => {
    const { expansions } = setUp()
    const record = { owner_info: link(2), issues: [link('3'), link('5')], check_id: '7' }
    expect(await expandRecords([record], 'owner,issues,check', expansions)).toEqual([
      {
        owner_info: { ...link(2), record: { id: '2' } },
        issues: [{ ...link('3'), record: { id: '3' } }, link('5')],
        check_id: '7',
        check: { id: '7' },
      },
    ])
  })
})
