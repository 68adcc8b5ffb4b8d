import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { Agents, expectNodeInvalid } from '../../../test/support/agent-fixtures.ts'
import { createTestDatabase } from '../../../test/support/database.ts'

const database = await createTestDatabase()
const { db } = database
afterAll(() => database.close())

let agents: Agents
beforeEach(async () => {
  agents = await Agents.create(db)
})
afterEach(() => agents.close())

test('answers to live queries alone are handed on, but of a device that has been removed, which is told', async () => {
  const kept = await agents.enroll()
  const removed = await agents.enroll({ host_identifier: 'host-2', host_details: {} })
  const other = await agents.enroll({ host_identifier: 'host-3', host_details: {} })
  await agents.read(removed)
  await db.deleteFrom('device').where('host_identifier', '=', 'host-2').execute()
  const answer = (nodeKey: string, row: object) =>
    agents.post('distributed/write', {
      node_key: nodeKey,
      queries: { 'live:7': [row] },
      statuses: { 'live:7': 0 },
    })
  const [first, refused, again] = await Promise.all([
    answer(kept, { a: '7' }),
    answer(removed, { a: '8' }),
    answer(other, { a: '9' }),
  ])
  expect([first.json(), again.json()]).toEqual([{}, {}])
  expectNodeInvalid(refused)
  // Two devices at once: either may come first.
  const answers = agents.liveResults.map(({ rows }) => JSON.stringify(rows))
  expect(answers.toSorted()).toEqual(['[{"a":"7"}]', '[{"a":"9"}]'])
})
