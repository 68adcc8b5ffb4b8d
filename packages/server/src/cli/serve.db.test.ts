import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { PassThrough } from 'node:stream'
import { afterAll, expect, it, vi } from 'vitest'
import { createTestDatabase } from '../../test/support/database.ts'
import { toUrl } from '../../test/support/to-url.ts'
import type { CommandIo } from './command-io.ts'
import { runProgram } from './program.ts'

const database = await createTestDatabase()
afterAll(() => database.close())

it('logs JSON lines on the standard error and nothing else, and ends in order when told to', async () => {
  const stopping = new AbortController()
  const exitCodes: number[] = []
  let printed = ''
  let logged = ''
  const io = {
    stdout: new PassThrough().on('data', (chunk: Buffer) => (printed += chunk.toString())),
    stderr: new PassThrough().on('data', (chunk: Buffer) => (logged += chunk.toString())),
    environment: {
      DATABASE_URL: toUrl(database.connection),
      HELIOGRAPH_MASTER_KEY: randomBytes(32).toString('base64'),
      HELIOGRAPH_DATA_DIR: tmpdir(),
      HELIOGRAPH_LOG_LEVEL: 'debug',
      HELIOGRAPH_ROLES: 'agents,worker',
    },
    signal: stopping.signal,
    setExitCode: (code: number) => exitCodes.push(code),
  }
  const ended = runProgram(['serve', '--port', '0'], io as unknown as CommandIo)
  await vi.waitFor(() => expect(printed).toMatch(/^Heliograph is ready at http:\S+\n$/), 10_000)
  stopping.abort()
  await ended
  const lines = logged.trimEnd().split('\n')
  const messages = lines.map((line) => (JSON.parse(line) as { msg: string }).msg)
  expect(messages).toEqual(expect.arrayContaining(['service ready', 'stopping']))
  expect(exitCodes).toEqual([])
})
