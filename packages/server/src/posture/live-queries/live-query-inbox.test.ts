import { describe, expect, it } from 'vitest'
import { LiveQueryInbox } from './live-query-inbox.ts'
import type { OpenCampaign } from './owed-queries.ts'

interface Stage {
  readonly open: Map<string, OpenCampaign>
  readonly errors: string[]
  readonly owed: string[]
  reads: number
  fault: Error | undefined
}

function createStage() {
  const stage: Stage = { open: new Map(), errors: [], owed: [], reads: 0, fault: undefined }
  const read = async <Value>(value: () => Value): Promise<Value> => {
    stage.reads += 1
    await Promise.resolve()
    const { fault } = stage
    stage.fault = undefined
    if (fault !== undefined) throw fault
    return value()
  }
  const inbox = new LiveQueryInbox({
    findOpenCampaign: (campaignId) => read(() => stage.open.get(campaignId)),
    listOpenCampaignIds: () => read(() => [...stage.open.keys()]),
    onOwed: (deviceIds) => stage.owed.push(...deviceIds),
    logError: (_error, message) => stage.errors.push(message),
    retryDelayMs: 1,
  })
  return { stage, inbox }
}

function campaign(
  campaignId: string,
  waitingDeviceIds: readonly string[],
  revision = 1,
): OpenCampaign {
  return { campaignId, revision, statement: `select ${campaignId}`, waitingDeviceIds }
}

const idsOf = (queries: object | undefined) => queries && Object.keys(queries)

describe('the inbox of live queries', () => {
  it('asks exactly the devices that owe an answer, again until they have answered', async () => {
    const { stage, inbox } = createStage()
    stage.open.set('5', campaign('5', ['1', '2']))
    inbox.refreshAll()
    await inbox.whenIdle()
    expect(inbox.pendingQueries('1')).toEqual({
      'live:5:1': 'SELECT * FROM (\nselect 5\n) LIMIT 1001',
    })
    expect(idsOf(inbox.pendingQueries('1'))).toEqual(['live:5:1'])
    expect(inbox.pendingQueries('3')).toBeUndefined()
    expect(stage.owed).toEqual(['1', '2'])
    inbox.forget('1', [{ campaignId: '5', revision: 1 }])
    expect(inbox.pendingQueries('1')).toBeUndefined()
    expect(idsOf(inbox.pendingQueries('2'))).toEqual(['live:5:1'])
  })

  it('reads nothing for a check-in, however many campaigns are open', async () => {
    const { stage, inbox } = createStage()
    for (let id = 1; id <= 200; id += 1) stage.open.set(`${id}`, campaign(`${id}`, ['1']))
    inbox.refreshAll()
    await inbox.whenIdle()
    const { reads } = stage
    for (let count = 0; count < 50; count += 1) {
      inbox.pendingQueries('1')
      inbox.pendingQueries('2')
    }
    expect(stage.reads).toBe(reads)
  })

  it('hands out few at a time, and the others once those are answered', async () => {
    const { stage, inbox } = createStage()
    for (let id = 1; id <= 9; id += 1) stage.open.set(`${id}`, campaign(`${id}`, ['1']))
    inbox.refreshAll()
    await inbox.whenIdle()
    const answered: string[] = []
    for (;;) {
      const ids = idsOf(inbox.pendingQueries('1'))
      if (ids === undefined) break
      expect(ids.length).toBeLessThanOrEqual(4)
      answered.push(...ids)
      inbox.forget(
        '1',
        ids.map((id) => ({ campaignId: id.split(':')[1] ?? '', revision: 1 })),
      )
    }
    expect(answered).toHaveLength(9)
    expect(new Set(answered).size).toBe(9)
  })

  it('asks the newest revision, and an answer to an older one does not end it', async () => {
    const { stage, inbox } = createStage()
    stage.open.set('5', campaign('5', ['1']))
    inbox.refresh('5')
    await inbox.whenIdle()
    stage.open.set('5', campaign('5', ['1'], 2))
    inbox.refresh('5')
    await inbox.whenIdle()
    inbox.forget('1', [{ campaignId: '5', revision: 1 }])
    expect(idsOf(inbox.pendingQueries('1'))).toEqual(['live:5:2'])
  })

  it('asks no longer once a campaign is closed, also when only a sweep tells', async () => {
    const { stage, inbox } = createStage()
    stage.open.set('5', campaign('5', ['1']))
    stage.open.set('6', campaign('6', ['1']))
    inbox.refreshAll()
    await inbox.whenIdle()
    stage.open.delete('5')
    inbox.refresh('5')
    await inbox.whenIdle()
    expect(idsOf(inbox.pendingQueries('1'))).toEqual(['live:6:1'])
    stage.open.clear()
    inbox.refreshAll()
    await inbox.whenIdle()
    expect(inbox.pendingQueries('1')).toBeUndefined()
  })

  it.each(['sweep', 'campaign'])('reads again what failed to be read: %s', async (what) => {
    const { stage, inbox } = createStage()
    stage.open.set('5', campaign('5', ['1']))
    stage.fault = new Error('down')
    if (what === 'sweep') inbox.refreshAll()
    else inbox.refresh('5')
    await inbox.whenIdle()
    expect(stage.errors).toEqual(['live queries could not be read'])
    expect(idsOf(inbox.pendingQueries('1'))).toEqual(['live:5:1'])
  })

  it('misses nothing that is told while it reads', async () => {
    const { stage, inbox } = createStage()
    inbox.refreshAll()
    stage.open.set('5', campaign('5', ['1']))
    inbox.refresh('5')
    inbox.refreshAll()
    stage.open.set('6', campaign('6', ['1']))
    await inbox.whenIdle()
    expect(idsOf(inbox.pendingQueries('1'))?.sort()).toEqual(['live:5:1', 'live:6:1'])
  })

  it('ignores a text that is no id, and reads nothing once it is stopped', async () => {
    const { stage, inbox } = createStage()
    inbox.refresh('all')
    inbox.refresh('')
    await inbox.stop()
    inbox.refresh('5')
    inbox.refreshAll()
    await inbox.whenIdle()
    expect(stage.reads).toBe(0)
  })
})
