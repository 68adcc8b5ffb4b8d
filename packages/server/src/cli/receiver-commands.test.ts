import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { EXIT_CODES, type CommandIo } from './command-io.ts'
import { runProgram } from './program.ts'

let server: Server
let issuer: string

/** A transmitter that knows the stream `s1` and the credential `Bearer good`. */
beforeAll(async () => {
  server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json')
    if (request.url === '/.well-known/ssf-configuration') {
      response.end(
        JSON.stringify({
          issuer,
          jwks_uri: `${issuer}/jwks`,
          verification_endpoint: `${issuer}/streams/{stream_id}/verify`,
        }),
      )
    } else if (request.url === '/jwks') response.end('{"keys":[]}')
    else if (request.headers.authorization !== 'Bearer good') {
      response.writeHead(401, { 'www-authenticate': 'Bearer error="invalid_token"' }).end()
    } else response.writeHead(request.url === '/streams/s1/verify' ? 204 : 404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterAll(() => new Promise((resolve) => server.close(resolve)))

async function run(...words: string[]) {
  const result = { exitCode: 0, output: '', diagnostics: '' }
  const io = {
    stdout: new PassThrough().on('data', (chunk: Buffer) => (result.output += chunk.toString())),
    stderr: new PassThrough().on(
      'data',
      (chunk: Buffer) => (result.diagnostics += chunk.toString()),
    ),
    environment: {},
    signal: new AbortController().signal,
    setExitCode: (code: number) => (result.exitCode = code),
  }
  await runProgram(['receiver', ...words], io as unknown as CommandIo)
  return result
}

it('trigger prints what it asked for', async () => {
  const asked = await run(
    ...['trigger', '--issuer', issuer, '--stream', 's1', '--state', 'x', '--json'],
    ...['--authorization', 'Bearer good'],
  )
  expect(asked.exitCode).toBe(EXIT_CODES.ok)
  expect(JSON.parse(asked.output)).toEqual({ stream_id: 's1', state: 'x' })
})

it('trigger tells a refusal, a wrong command line and a transmitter that is away apart', async () => {
  const flags = ['trigger', '--stream', 's2', '--authorization']
  const refused = await run(...flags, 'Bearer good', '--issuer', issuer)
  expect(refused).toMatchObject({
    exitCode: EXIT_CODES.failed,
    diagnostics: `POST ${issuer}/streams/s2/verify: the transmitter answered 404.\n`,
  })
  const unknown = await run(...flags, 'Bearer bad', '--issuer', issuer)
  expect(unknown).toMatchObject({
    exitCode: EXIT_CODES.failed,
    diagnostics: `POST ${issuer}/streams/s2/verify: the transmitter answered 401: invalid_token.\n`,
  })
  const bare = await run('trigger', '--stream', 's1', '--issuer', issuer)
  expect(bare.exitCode).toBe(EXIT_CODES.usage)
  const half = await run('trigger', '--stream', 's1', '--issuer', issuer, '--client-id', 'c')
  expect(half.exitCode).toBe(EXIT_CODES.usage)
  expect(half.diagnostics).toContain('--token-endpoint')
  const away = await run(...flags, 'Bearer good', '--issuer', 'http://127.0.0.1:1')
  expect(away.exitCode).toBe(EXIT_CODES.unavailable)
})

it('bench tells by its exit code that no event came', async () => {
  const flags = ['bench', '--issuer', issuer, '--audience', 'a', '--seconds', '1', '--json']
  const { exitCode, output, diagnostics } = await run(...flags)
  expect(exitCode).toBe(EXIT_CODES.failed)
  expect(JSON.parse(output)).toMatchObject({ events: 0, events_per_second: null })
  expect(diagnostics).toMatch(/^listening on http:/)
})

it('access tokens are not demanded of pushes', async () => {
  const flags = ['listen', '--issuer', issuer, '--audience', 'a', '--client-id', 'c']
  const { exitCode, diagnostics } = await run(...flags)
  expect(exitCode).toBe(EXIT_CODES.usage)
  expect(diagnostics).toContain('--poll-url')
})
