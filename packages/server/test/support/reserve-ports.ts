/*
 * Ports for services of tests. Who only looks for a port that is free finds the one that somebody else has found and
 * not opened yet; these are kept from all other tests, in whichever process, until the process that asked ends.
 */
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import type { PortRange } from '../../src/platform/net/browser-ports.ts'
import { findFreePort } from '../../src/platform/net/find-free-port.ts'

/** Below those that the product takes by itself, and beyond those that browsers refuse. */
const FIRST = 10_200
const LAST = 14_999

/**
 * Who listens to a port of this address has the port of that number. The system forgets it with the process. Linux
 * alone has the address: elsewhere nothing keeps tests from each other.
 */
const TOKEN_HOST = '127.0.0.77'

/** A port of `host` that no other test is given. */
export async function reservePort(host = '127.0.0.1'): Promise<number> {
  return (await reservePorts(1, host)).first
}

/**
 * So many ports of `host` one after another that no other test is given.
 *
 * @throws Error when there are none
 */
export async function reservePorts(count: number, host = '127.0.0.1'): Promise<PortRange> {
  const rangeCount = Math.floor((LAST - FIRST) / count)
  const start = randomInt(rangeCount)
  for (let index = 0; index < rangeCount; index += 1) {
    const first = FIRST + ((start + index) % rangeCount) * count
    const range = { first, last: first + count - 1 }
    if (await tryReserve(host, range)) return range
  }
  throw new Error(`${host} has no ${count} ports left for tests`)
}

async function tryReserve(host: string, { first, last }: PortRange): Promise<boolean> {
  const tokens: Server[] = []
  try {
    for (let port = first; port <= last; port += 1) {
      const token = await takeToken(port)
      if (token !== undefined) tokens.push(token)
      await findFreePort(host, port)
    }
    return true
  } catch {
    for (const token of tokens) token.close()
    return false
  }
}

async function takeToken(port: number): Promise<Server | undefined> {
  const token = createServer((socket) => socket.destroy())
  token.listen({ port, host: TOKEN_HOST, exclusive: true })
  try {
    await once(token, 'listening')
  } catch (error) {
    if (process.platform === 'linux') throw error
    return undefined
  }
  return token.unref()
}
