import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCommand } from '../../test/support/run-command.ts'
import { EXIT_CODES } from './command-io.ts'

let folder: string
let nodeKeys: string
let isAway = false

/** A service that takes devices until it is away; then it breaks every connection. */
const server = createServer((request, response) => {
  if (isAway) request.socket.destroy()
  else response.end(request.url?.includes('enroll') === true ? '{"node_key":"key"}' : '{}')
})

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
  const flags = ['--devices', '10', '--seconds', '3', '--node-keys', nodeKeys]
  return runCommand(['simulate', '--url', url, '--secret', 's', ...flags])
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
