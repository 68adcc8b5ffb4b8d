import { afterEach, describe, expect, test } from 'vitest'
import { judgeResponse } from './failure-contract.ts'
import { createHarness } from '../test/node-harness.ts'
import type { Harness } from '../test/node-harness.ts'
import type { Answer } from '../test/fake-osquery-server.ts'

let harness: Harness | undefined
afterEach(async () => {
  await harness?.close()
  harness = undefined
})

/** Logs one line and answers its delivery; tells whether the agent deleted the line. */
async function deliverOneLine(answer: Answer): Promise<{ buffered: number; harness: Harness }> {
  const made = await createHarness({ flags: { isDistributedDisabled: true } })
  harness = made
  made.server.respond('log', answer)
  made.node.start()
  await made.seconds(0)
  made.node.logStatus(0, 'a line')
  await made.seconds(4)
  return { buffered: made.node.state.logLines.status.length, harness: made }
}

describe('the failure contract', () => {
  test('a 500 with an empty object counts as success: the lines are deleted', async () => {
    expect((await deliverOneLine({ status: 500, json: {} })).buffered).toBe(0)
  })

  test('a 503 with an empty body counts as success: the lines are deleted', async () => {
    expect((await deliverOneLine({ status: 503, text: '' })).buffered).toBe(0)
  })

  test('a 500 with an error keeps the lines', async () => {
    expect((await deliverOneLine({ status: 500, json: { error: 'down' } })).buffered).toBe(1)
  })

  test('a 200 with an error keeps the lines: the status plays no part', async () => {
    expect((await deliverOneLine({ status: 200, json: { error: 'down' } })).buffered).toBe(1)
  })

  test.each([[''], [0], [false], [null], [{}]])('an error member of value %j fails', (error) => {
    expect(judgeResponse(JSON.stringify({ error })).outcome).toBe('failed')
  })

  test('an HTML page fails to parse and keeps the lines', async () => {
    const page = { status: 502, text: '<html><body>Bad gateway</body></html>' }
    expect((await deliverOneLine(page)).buffered).toBe(1)
  })

  test('a server that is not there keeps the lines', async () => {
    const made = await createHarness({ flags: { isDistributedDisabled: true } })
    harness = made
    made.node.start()
    await made.seconds(0)
    await made.server.close()
    made.node.logStatus(0, 'a line')
    await made.seconds(4)
    expect(made.node.state.logLines.status).toHaveLength(1)
    expect(made.node.counters.unreachable).toBeGreaterThan(0)
  })

  test('node_invalid makes the agent forget its key and enroll with the next request', async () => {
    const { buffered, harness: made } = await deliverOneLine({ json: { node_invalid: true } })
    expect(buffered).toBe(1)
    expect(made.node.state.nodeKey).toBeUndefined()
    made.server.respond('log', { json: {} })
    await made.seconds(4)
    expect(made.server.to('enroll')).toHaveLength(2)
    expect(made.server.to('log').at(-1)?.body['node_key']).toBe('key-2')
    expect(made.node.state.logLines.status).toHaveLength(0)
  })

  test('node_invalid wins over an error in the same answer', () => {
    expect(judgeResponse('{"error":"x","node_invalid":true}').outcome).toBe('node-invalid')
  })

  test.each([['"true"'], ['1'], ['false'], ['null']])(
    'node_invalid %s is not a refusal',
    (value) => {
      expect(judgeResponse(`{"node_invalid":${value}}`).outcome).toBe('success')
    },
  )

  test.each([
    ['5', 5],
    ['5.0', Number.NaN],
    ['5e0', Number.NaN],
    ['-5', -5],
    ['"5"', '5'],
  ])('accelerate %s is an integer only when it is written as one', (text, accelerate) => {
    const body = { accelerate, count: 2 }
    expect(judgeResponse(`{"accelerate":${text},"count":2.0}`)).toEqual({
      outcome: 'success',
      body,
    })
  })

  test('disable_reenrollment keeps the key after node_invalid', async () => {
    harness = await createHarness({ flags: { isReenrollmentDisabled: true } })
    harness.server.respond('distributedRead', { json: { node_invalid: true } })
    harness.node.start()
    await harness.seconds(30)
    expect(harness.node.state.nodeKey).toBe('key-1')
    expect(harness.server.to('enroll')).toHaveLength(1)
  })
})
