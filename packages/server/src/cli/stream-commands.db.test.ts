import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts'
import { toUrl } from '../../test/support/to-url.ts'
import { SYSTEM_ACTOR } from '../changes/audit/audit-entry.ts'
import { loadConfig } from '../app/config/load-config.ts'
import { parseAllowedTargets } from '../platform/net/target-policy.ts'
import { openFoundation, type ServiceFoundation } from '../app/foundation.ts'
import { createStream } from '../signals/streams/create-stream.ts'
import type { CommandIo } from './command-io.ts'
import { runProgram } from './program.ts'

let database: TestDatabase
let services: ServiceFoundation
let environment: Record<string, string>
let streamId: string

beforeAll(async () => {
  database = await createTestDatabase({ poolMax: 1 })
  environment = {
    DATABASE_URL: toUrl(database.connection),
    HELIOGRAPH_MASTER_KEY: randomBytes(32).toString('base64'),
    HELIOGRAPH_DATA_DIR: tmpdir(),
  }
  services = await openFoundation(loadConfig(environment), { purpose: 'command' })
  const targets = parseAllowedTargets('')
  if (!targets.ok) throw new Error(targets.reason)
  const stream = await services.runChange({ actor: SYSTEM_ACTOR }, (change) =>
    createStream(
      change,
      { name: 'Gateway', deliveryMethod: 'poll', endpointPath: 'delivery.endpoint_url' },
      {
        baseUrl: services.config.baseUrl,
        sealer: services.sealer,
        targetPolicy: targets.policy,
        streamsMax: 10,
      },
    ),
  )
  streamId = stream.streamId
})
afterAll(async () => {
  await services.close()
  await database.close()
})

async function run(...words: string[]) {
  const result = { exitCode: 0, printed: '', told: '' }
  const io = {
    stdout: new PassThrough().on('data', (chunk: Buffer) => (result.printed += chunk.toString())),
    stderr: new PassThrough().on('data', (chunk: Buffer) => (result.told += chunk.toString())),
    environment,
    signal: new AbortController().signal,
    setExitCode: (code: number) => (result.exitCode = code),
  }
  await runProgram(['streams', ...words], io as unknown as CommandIo)
  return result
}

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

it('fails for streams that do not exist and words that mean nothing', async () => {
  expect(await run('poll-token', '--stream', '999')).toMatchObject({
    exitCode: 1,
    told: expect.stringContaining('no such stream') as string,
  })
  expect((await run('set-status', streamId, '--status', 'asleep')).exitCode).not.toBe(0)
  expect((await run('poll-token', '--stream', streamId, '--mode', 'soon')).exitCode).not.toBe(0)
})
