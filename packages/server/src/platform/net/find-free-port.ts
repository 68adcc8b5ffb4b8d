import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { errorCodeOf } from '../error-code-of.ts'
import type { PortRange } from './browser-ports.ts'

/**
 * Below the ports that operating systems give to outgoing connections, so that none takes one before its listener does,
 * and beyond those that browsers refuse.
 */
const FIRST_OF_RANGES = 15_000
const LAST_OF_RANGES = 32_000

/**
 * A TCP port of `host` that is free at this moment: `wanted`, where it is given.
 *
 * @throws the system's error when the wanted port is taken, Error when none is free
 */
export async function findFreePort(host: string, wanted?: number): Promise<number> {
  if (wanted === undefined) return (await findFreePortRange(host, 1)).first
  const server = createServer().listen(wanted, host)
  await once(server, 'listening')
  server.close()
  await once(server, 'close')
  return wanted
}

/** Others may take a port between the moment at which it is found free and that at which it is listened on. */
const LISTENS_MAX = 5

/** Has the server listen on a port of `host` that is free, and answers which: nobody else gets it from then on. */
export async function listenOnFreePort(server: Server, host: string): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await findFreePort(host)
    try {
      server.listen(port, host)
      await once(server, 'listening')
      return port
    } catch (error) {
      if (errorCodeOf(error) !== 'EADDRINUSE' || attempt === LISTENS_MAX) throw error
    }
  }
}

/**
 * So many ports of `host` one after another that are free at this moment. Two who ask at once hardly get the same ones.
 *
 * @throws Error when there are none
 */
export async function findFreePortRange(host: string, count: number): Promise<PortRange> {
  const rangeCount = Math.floor((LAST_OF_RANGES - FIRST_OF_RANGES) / count)
  const start = randomInt(rangeCount)
  for (let index = 0; index < rangeCount; index += 1) {
    const first = FIRST_OF_RANGES + ((start + index) % rangeCount) * count
    const range = { first, last: first + count - 1 }
    if (await isFree(host, range)) return range
  }
  throw new Error(`${host} has no ${count} free ports one after another`)
}

async function isFree(host: string, { first, last }: PortRange): Promise<boolean> {
  for (let port = first; port <= last; port += 1) {
    try {
      await findFreePort(host, port)
    } catch {
      return false
    }
  }
  return true
}
