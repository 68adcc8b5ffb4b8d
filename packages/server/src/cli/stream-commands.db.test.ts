import { afterAll, beforeAll, expect, it } from 'vitest'
import { createCommandDatabase, type CommandDatabase } from '../../test/support/command-database.ts'
import { queueEvents } from '../../test/support/queue-events.ts'
import { runCommand } from '../../test/support/run-command.ts'
import { SYSTEM_ACTOR } from '../changes/audit/audit-entry.ts'
import { parseAllowedTargets } from '../platform/net/target-policy.ts'
import { createStream } from '../signals/streams/create-stream.ts'
import { getStream, parseStreamReference } from '../signals/streams/stream-store.ts'

let commands: CommandDatabase
let streamId: string

beforeAll(async () => {
  commands = await createCommandDatabase()
  const targets = parseAllowedTargets('')
  if (!targets.ok) throw new Error(targets.reason)
  const stream = await commands.services.runChange({ actor: SYSTEM_ACTOR }, (change) =>
    createStream(
      change,
      { name: 'Gateway', deliveryMethod: 'poll', endpointPath: 'delivery.endpoint_url' },
      {
        baseUrl: commands.services.config.baseUrl,
        sealer: commands.services.sealer,
        targetPolicy: targets.policy,
        streamsMax: 10,
      },
    ),
  )
  streamId = stream.streamId
})
afterAll(() => commands.close())

const run = (...words: string[]) => runCommand(['streams', ...words], commands.environment)

it('issues, replaces and revokes poll tokens', async () => {
  const first = await run('poll-token', '--stream', streamId, '--json')
  expect(JSON.parse(first.printed)).toMatchObject({
    stream_id: streamId,
    mode: 'overlap',
    poll_bearer_token: expect.stringMatching(/^hgpt_v1_/) as string,
    previous_valid_until: null,
  })
  const flags = ['--mode', 'overlap', '--overlap-seconds', '60', '--json']
  const second = await run('poll-token', '--stream', streamId, ...flags)
  expect(JSON.parse(second.printed)).toMatchObject({
    previous_valid_until: expect.any(String) as string,
  })
  const plain = await run('poll-token', '--stream', streamId, '--mode', 'immediate')
  expect(plain.printed).toMatch(/^hgpt_v1_[0-9A-Za-z]{46}\n$/)
  const revoked = await run('poll-token', '--stream', streamId, '--mode', 'disable', '--json')
  expect(JSON.parse(revoked.printed)).toMatchObject({ poll_bearer_token: null })
})

it('shows a stream and sets its status', async () => {
  const paused = await run('set-status', streamId, '--status', 'paused', '--reason', 'x', '--json')
  expect(JSON.parse(paused.printed)).toEqual({ stream_id: streamId, status: 'paused', reason: 'x' })
  const shown = await run('show', streamId, '--json')
  expect(JSON.parse(shown.printed)).toMatchObject({
    stream_id: streamId,
    status: 'paused',
    profile: 'interface',
  })
  expect((await run('show', streamId)).printed).toMatch(/^status +paused$/m)
})

it('gives up the dead events of a stream that is disabled', async () => {
  const { db } = commands.services
  const { destinationId } = await getStream(db, parseStreamReference(streamId))
  const { eventIds } = await queueEvents(commands.services, destinationId, [null])
  await db
    .updateTable('delivery')
    .set({ state: 'dead', finished_at: new Date() })
    .where('event_id', 'in', eventIds)
    .execute()
  expect(await run('set-status', streamId, '--status', 'disabled')).toMatchObject({ exitCode: 0 })
  const words = ['discard', '--stream', streamId, '--state', 'dead', '--json']
  const discarded = await runCommand(['deliveries', ...words], commands.environment)
  expect(JSON.parse(discarded.printed)).toEqual({ count: 1 })
})

it('fails for streams that do not exist and words that mean nothing', async () => {
  expect(await run('poll-token', '--stream', '999')).toMatchObject({
    exitCode: 1,
    told: expect.stringContaining('no such stream') as string,
  })
  expect((await run('set-status', streamId, '--status', 'asleep')).exitCode).not.toBe(0)
  expect((await run('poll-token', '--stream', streamId, '--mode', 'soon')).exitCode).not.toBe(0)
})
