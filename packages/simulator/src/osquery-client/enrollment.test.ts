import { afterEach, describe, expect, test } from 'vitest'
import { createHarness } from '../test/node-harness.ts'
import type { Harness } from '../test/node-harness.ts'
import type { Platform } from '../platform.ts'

let harness: Harness | undefined
afterEach(async () => {
  await harness?.close()
  harness = undefined
})

describe('enrollment', () => {
  test('sends the trimmed secret, the identifier, the platform mask and the host details', async () => {
    harness = await createHarness({
      enrollSecret: ' secret\n',
      answers: {
        'SELECT * FROM os_version LIMIT 1': [{ name: 'Ubuntu', major: '26' }],
        'SELECT * FROM system_info LIMIT 1': [{ uuid: 'HOST-1' }],
      },
    })
    harness.node.start()
    await harness.seconds(0)
    const [request] = harness.server.to('enroll')
    expect(request?.body).toEqual({
      enroll_secret: 'secret',
      host_identifier: 'HOST-1',
      platform_type: '9',
      host_details: {
        os_version: { name: 'Ubuntu', major: '26' },
        system_info: { uuid: 'HOST-1' },
      },
    })
  })

  test.each<[Platform, string]>([
    ['darwin', '21'],
    ['linux', '9'],
    ['windows', '2'],
  ])('a %s agent says platform_type %s', async (platform, mask) => {
    harness = await createHarness({ platform })
    harness.node.start()
    await harness.seconds(0)
    expect(harness.server.to('enroll')[0]?.body['platform_type']).toBe(mask)
  })

  test('a table that fails or has no row is left out of the host details', async () => {
    harness = await createHarness({
      answers: { 'SELECT * FROM platform_info LIMIT 1': 'no such table' },
    })
    harness.node.start()
    await harness.seconds(0)
    expect(harness.server.to('enroll')[0]?.body['host_details']).toEqual({})
  })

  test('takes the key from node_key, or from id', async () => {
    harness = await createHarness()
    harness.server.respondOnce('enroll', { json: { id: 'from-id' } })
    harness.node.start()
    await harness.seconds(0)
    expect(harness.node.state.nodeKey).toBe('from-id')
  })

  test('ignores the status of an answer that holds a key', async () => {
    harness = await createHarness()
    harness.server.respondOnce('enroll', { status: 500, json: { node_key: 'from-500' } })
    harness.node.start()
    await harness.seconds(0)
    expect(harness.node.state.nodeKey).toBe('from-500')
  })

  test.each([
    ['an empty body', { text: '' }],
    ['an empty key', { json: { node_key: '' } }],
    ['a key that is no string', { json: { node_key: 7 } }],
    ['a refusal', { json: { node_invalid: true } }],
    ['an HTML page', { text: '<html></html>' }],
  ])('fails on %s and tries again', async (_name, answer) => {
    harness = await createHarness()
    harness.server.respondOnce('enroll', answer)
    harness.node.start()
    await harness.seconds(0)
    expect(harness.node.state.nodeKey).toBeUndefined()
    await harness.seconds(1)
    expect(harness.node.state.nodeKey).toBe('key-1')
  })

  test('waits n squared seconds between attempts and gives up after twelve', async () => {
    harness = await createHarness({ flags: { tlsAttemptsMax: 1, isDistributedDisabled: true } })
    harness.server.respond('enroll', { json: { error: 'no' } })
    harness.node.start()
    await harness.seconds(0)
    for (let attempt = 1; attempt < 12; attempt += 1) {
      expect(harness.server.to('enroll')).toHaveLength(attempt)
      await harness.seconds(attempt * attempt - 1)
      expect(harness.server.to('enroll')).toHaveLength(attempt)
      await harness.seconds(1)
    }
    const given = harness.server.to('enroll').length
    expect(given).toBe(12)
    expect(harness.server.to('config')).toHaveLength(0)
  })

  test('never waits longer than 600 seconds, and forever tries when attempts are unlimited', async () => {
    harness = await createHarness({ flags: { enrollAttemptsMax: 0 } })
    harness.server.respond('enroll', { json: { error: 'no' } })
    harness.node.start()
    await harness.seconds(24 * 3_600)
    const count = harness.server.to('enroll').length
    await harness.seconds(600)
    expect(harness.server.to('enroll').length).toBe(count + 1)
  })

  test('keeps its key over a restart', async () => {
    harness = await createHarness()
    harness.node.start()
    await harness.seconds(0)
    harness.node.restart()
    await harness.seconds(0)
    expect(harness.server.to('enroll')).toHaveLength(1)
    expect(harness.server.to('config').at(-1)?.body['node_key']).toBe('key-1')
  })

  test('enroll_always forgets the key at every start', async () => {
    harness = await createHarness({ flags: { enrollsAlways: true } })
    harness.node.start()
    await harness.seconds(0)
    harness.node.restart()
    await harness.seconds(0)
    expect(harness.server.to('enroll')).toHaveLength(2)
  })

  test('concurrent threads share one enrollment', async () => {
    harness = await createHarness()
    harness.node.start()
    harness.node.logStatus(0, 'hello')
    await harness.seconds(4)
    harness.server.respondOnce('log', { json: { node_invalid: true } })
    harness.server.respondOnce('distributedRead', { json: { node_invalid: true } })
    harness.node.logStatus(0, 'again')
    await harness.seconds(120)
    expect(harness.server.to('enroll').length).toBeLessThanOrEqual(3)
    expect(harness.node.counters.nodeInvalid).toBe(2)
  })
})
