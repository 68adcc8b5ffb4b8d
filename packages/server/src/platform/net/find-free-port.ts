import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import type { PortRange } from './browser-ports.ts'

/**
 * A TCP port of `host` that is free at this moment: `wanted`, where it is given.
 *
 * @throws the system's error when the wanted port is taken
 */
export async function findFreePort(host: string, wanted = 0): Promise<number> {
  const server = createServer().listen(wanted, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Below the ports that operating systems give to outgoing connections, and beyond those that browsers refuse. */
const FIRST_OF_RANGES = 20_000
const LAST_OF_RANGES = 32_000

/**
 * So many ports of `host` one after another that are free at this moment.
 *
 * @throws Error when there are none
 */
export async function findFreePortRange(host: string, count: number): Promise<PortRange> {
  for (let first = FIRST_OF_RANGES; first + count <= LAST_OF_RANGES; first += count) {
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
