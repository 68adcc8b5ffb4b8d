/*
 * A TCP proxy on the loopback interface before a test database, whose host can vanish as one does whose power is
 * gone: nothing is closed, nothing is answered, and connections that are made wait like those that are open.
 */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { toServers, type DatabaseConnection } from '../../src/platform/db/connection.ts'
import { DatabaseClient } from '../../src/platform/db/database-client.ts'

export interface VanishingProxy {
  /** The database behind it. */
  readonly url: string
  /** Forwards nothing more, and closes nothing. */
  vanish(): void
  /** Another host has its address: what was open stays silent for ever, new connections are served. */
  comeBack(): void
  /** Connections that were made at all. */
  readonly connectionCount: () => number
  close(): Promise<void>
}

export async function startVanishingProxy(target: DatabaseConnection): Promise<VanishingProxy> {
  const { host, port, user, database } = new DatabaseClient(toServers(target)[0])
  const sockets = new Set<Socket>()
  let connectionCount = 0
  let isGone = false
  const server = createServer((client) => {
    connectionCount += 1
    sockets.add(client)
    client.on('error', () => undefined)
    client.on('close', () => sockets.delete(client))
    if (isGone) {
      client.pause()
      return
    }
    const upstream = host.startsWith('/')
      ? connect(`${host}/.s.PGSQL.${port}`)
      : connect(port, host)
    sockets.add(upstream)
    upstream.on('error', () => client.destroy())
    upstream.on('close', () => sockets.delete(upstream))
    client.on('close', () => upstream.destroy())
    client.pipe(upstream).pipe(client)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port: ownPort } = server.address() as AddressInfo
  return {
    url: `postgresql://${user ?? ''}@127.0.0.1:${ownPort}/${database ?? ''}`,
    vanish() {
      isGone = true
      for (const socket of sockets) {
        socket.unpipe()
        socket.pause()
      }
    },
    comeBack() {
      isGone = false
    },
    connectionCount: () => connectionCount,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
