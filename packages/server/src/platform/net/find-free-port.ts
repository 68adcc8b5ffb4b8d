import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'

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
