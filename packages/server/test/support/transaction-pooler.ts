/*
 * A connection pooler in transaction mode before a test database, as PgBouncer is with `pool_mode = transaction`: a
 * client has a connection of the server from the beginning of a transaction to its end, and takes the one that was
 * given back last. Prepared statements are not kept apart, as before PgBouncer 1.21.
 */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { toServers, type DatabaseConnection } from '../../src/platform/db/connection.ts'
import { DatabaseClient } from '../../src/platform/db/database-client.ts'

export interface TransactionPooler {
  readonly url: string
  close(): Promise<void>
}

interface ServerConnection {
  readonly socket: Socket
  /** Hears every message; the last argument tells whether no transaction is open after it. */
  onMessage: (message: Buffer, isIdle: boolean) => void
}

const AUTHENTICATION_OK = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0])
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49])
const IDLE = 0x49
const HEADER_BYTES = 5

export async function startTransactionPooler(
  target: DatabaseConnection,
): Promise<TransactionPooler> {
  const { host, port, user = '', database = '' } = new DatabaseClient(toServers(target)[0])
  const sockets = new Set<Socket>()
  const free: ServerConnection[] = []

  async function takeServer(): Promise<ServerConnection> {
    return free.pop() ?? openServer(`${host}/.s.PGSQL.${port}`, { user, database }, sockets)
  }

  function serve(client: Socket): void {
    let server: ServerConnection | undefined
    let hasStarted = false
    let working = Promise.resolve()
    const work = async (bytes: Buffer) => {
      if (!hasStarted) {
        hasStarted = true
        client.write(Buffer.concat([AUTHENTICATION_OK, READY]))
        return
      }
      const own = (server ??= await takeServer())
      own.onMessage = (message, isIdle) => {
        client.write(message)
        if (!isIdle || server === undefined) return
        free.push(server)
        server = undefined
      }
      own.socket.write(bytes)
    }
    client.on('data', (bytes) => {
      // The goodbye of a client is not one of the server.
      if (bytes[0] === 0x58) client.end()
      else working = working.then(() => work(bytes))
    })
  }

  const pooler = createServer((client) => {
    sockets.add(client)
    client.on('error', () => undefined)
    client.on('close', () => sockets.delete(client))
    serve(client)
  })
  await new Promise<void>((resolve) => pooler.listen(0, '127.0.0.1', resolve))
  const { port: ownPort } = pooler.address() as AddressInfo
  return {
    url: `postgresql://${user}@127.0.0.1:${ownPort}/${database}`,
    async close() {
      const closed = new Promise((resolve) => pooler.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

async function openServer(
  path: string,
  parameters: Readonly<Record<string, string>>,
  sockets: Set<Socket>,
): Promise<ServerConnection> {
  const socket = connect(path)
  sockets.add(socket)
  socket.on('error', () => undefined)
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const server: ServerConnection = {
    socket,
    onMessage: (_message, isIdle) => {
      if (isIdle) resolve(undefined)
    },
  }
  let unread = Buffer.alloc(0)
  socket.on('data', (bytes) => {
    unread = Buffer.concat([unread, bytes])
    while (unread.length >= HEADER_BYTES && unread.length > unread.readUInt32BE(1)) {
      const length = unread.readUInt32BE(1) + 1
      const message = unread.subarray(0, length)
      unread = unread.subarray(length)
      server.onMessage(message, message[0] === READY[0] && message[HEADER_BYTES] === IDLE)
    }
  })
  socket.write(toStartup(parameters))
  await promise
  return server
}

/** The first message of a client (PostgreSQL, "Message Formats", StartupMessage). */
function toStartup(parameters: Readonly<Record<string, string>>): Buffer {
  const text = Object.entries(parameters).map(([name, value]) => `${name}\0${value}\0`)
  const body = Buffer.from(`${text.join('')}\0`)
  const head = Buffer.alloc(8)
  head.writeUInt32BE(body.length + head.length)
  head.writeUInt32BE(0x30000, 4)
  return Buffer.concat([head, body])
}
