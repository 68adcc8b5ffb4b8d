import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { PassThrough } from 'node:stream'
import { afterAll, expect, it, vi } from 'vitest'
import { createTestDatabase } from '../../test/support/database.ts'
import { runCommand } from '../../test/support/run-command.ts'
import { toUrl } from '../../test/support/to-url.ts'
import type { CommandIo } from './command-io.ts'
// Loaded here, so that no test waits for it.
import '../app/service.ts'
import './commands/serve-command.ts'
import { runProgram } from './program.ts'

const database = await createTestDatabase()
afterAll(() => database.close())

/** With a secret that the service does not know. */
async function simulateOneDevice(url: string) {
  const device = ['--secret', 'unknown', '--devices', '1', '--seconds', '1']
  const { exitCode, told } = await runCommand(['simulate', '--url', url, ...device])
  return { exitCode, told }
}

it('logs JSON lines and nothing else, lets no device in without a secret, and ends in order', async () => {
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
    interruption: stopping.signal,
    setExitCode: (code: number) => exitCodes.push(code),
  }
  const ended = runProgram(['serve', '--port', '0'], io as unknown as CommandIo)
  await vi.waitFor(() => expect(printed).toMatch(/^Heliograph is ready at http:\S+\n$/), 10_000)
  const url = printed.trim().split(' ').at(-1) ?? ''
  expect(await simulateOneDevice(url)).toEqual({
    exitCode: 1,
    told: 'No device could enroll: check the address and the enrollment secret.\n',
  })
  stopping.abort()
  await ended
  const lines = logged.trimEnd().split('\n')
  const messages = lines.map((line) => (JSON.parse(line) as { msg: string }).msg)
  expect(messages).toEqual(expect.arrayContaining(['service ready', 'stopping']))
  expect(exitCodes).toEqual([])
})
