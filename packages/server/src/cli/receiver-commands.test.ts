import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCommand } from '../../test/support/run-command.ts'
import { EXIT_CODES } from './command-io.ts'

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

const run = (...words: string[]) => runCommand(['receiver', ...words])

it('trigger prints what it asked for', async () => {
  const asked = await run(
    ...['trigger', '--issuer', issuer, '--stream', 's1', '--state', 'x', '--json'],
    ...['--authorization', 'Bearer good'],
  )
  expect(asked.exitCode).toBe(EXIT_CODES.ok)
  expect(JSON.parse(asked.printed)).toEqual({ stream_id: 's1', state: 'x' })
})

it('trigger tells a refusal, a wrong command line and a transmitter that is away apart', async () => {
  const flags = ['trigger', '--stream', 's2', '--authorization']
  const refused = await run(...flags, 'Bearer good', '--issuer', issuer)
  expect(refused).toMatchObject({
    exitCode: EXIT_CODES.failed,
    told: `POST ${issuer}/streams/s2/verify: the transmitter answered 404.\n`,
  })
  const unknown = await run(...flags, 'Bearer bad', '--issuer', issuer)
  expect(unknown).toMatchObject({
    exitCode: EXIT_CODES.failed,
    told: `POST ${issuer}/streams/s2/verify: the transmitter answered 401: invalid_token.\n`,
  })
  const bare = await run('trigger', '--stream', 's1', '--issuer', issuer)
  expect(bare.exitCode).toBe(EXIT_CODES.usage)
  const half = await run('trigger', '--stream', 's1', '--issuer', issuer, '--client-id', 'c')
  expect(half.exitCode).toBe(EXIT_CODES.usage)
  expect(half.told).toContain('--token-endpoint')
  const away = await run(...flags, 'Bearer good', '--issuer', 'http://127.0.0.1:1')
  expect(away.exitCode).toBe(EXIT_CODES.unavailable)
})

it('bench tells by its exit code that no event came', async () => {
  const flags = ['bench', '--issuer', issuer, '--audience', 'a', '--seconds', '1', '--json']
  const { exitCode, printed, told } = await run(...flags)
  expect(exitCode).toBe(EXIT_CODES.failed)
  expect(JSON.parse(printed)).toMatchObject({ events: 0, events_per_second: null })
  expect(told).toMatch(/^listening on http:/)
})

it('access tokens are not demanded of pushes', async () => {
  const flags = ['listen', '--issuer', issuer, '--audience', 'a', '--client-id', 'c']
  const { exitCode, told } = await run(...flags)
  expect(exitCode).toBe(EXIT_CODES.usage)
  expect(told).toContain('--poll-url')
})
