import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
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
