import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCommand } from '../../test/support/run-command.ts'
import { EXIT_CODES } from './command-io.ts'

let folder: string
let nodeKeys: string
let isAway = false
let keyCount = 0
/** How often each device that has a key asked in this run. */
let asksByKey: Map<string, number>
let enough: AbortController

/** A service that takes devices until it is away; then it breaks every connection. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { node_key: key } = (await json(request)) as { readonly node_key?: string }
  if (key !== undefined) asksByKey.set(key, (asksByKey.get(key) ?? 0) + 1)
  // A device asks again once it has counted that it got no answer.
  if (isAway ? Math.max(...asksByKey.values()) > 1 : asksByKey.size === 3) enough.abort()
  if (isAway) request.socket.destroy()
  else response.end(key === undefined ? `{"node_key":"key-${(keyCount += 1)}"}` : '{}')
}

const server = createServer((request, response) => void answer(request, response))

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'simulate-'))
  nodeKeys = join(folder, 'keys.json')
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})

afterAll(async () => {
  await new Promise((resolve) => server.close(resolve))
  await rm(folder, { recursive: true, force: true })
})

function simulate() {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const flags = ['--devices', '10', '--node-keys', nodeKeys]
  asksByKey = new Map()
  enough = new AbortController()
  return runCommand(['simulate', '--url', url, '--secret', 's', ...flags], {}, enough.signal)
}

it('fails where the service is away, though the devices have their keys from a run before', async () => {
  const first = await simulate()
  expect(first).toMatchObject({ exitCode: EXIT_CODES.ok, told: '' })
  isAway = true
  const second = await simulate()
  expect(second).toMatchObject({
    exitCode: EXIT_CODES.failed,
    told: 'The service does not answer: check that it runs, and the address.\n',
  })
  expect(second.printed).toContain('0 of 10 devices enrolled')
  expect(second.printed).toMatch(/ 0 refused, [1-9]\d* unanswered,/)
  expect(second.printed).toContain('\n0 check-ins, 0 results and 0 log lines taken by the service.')
})
