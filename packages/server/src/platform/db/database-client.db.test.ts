/* What becomes of connections that the server does not let in, or that this process cannot go on with. */
import { createServer, Socket, type AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { cleanUpAfterEach } from '../../../test/support/clean-up-after-each.ts'
import { DatabaseClient } from './database-client.ts'
import { findDatabaseFault } from './database-fault.ts'
import { isAccessRefusal } from './unavailable.ts'

const cleanup = cleanUpAfterEach()

/** A request for authentication (PostgreSQL, "Message Formats"): 10 begins SASL, 11 goes on with it. */
function askForAuthentication(kind: 10 | 11, text: string): Buffer {
  const body = Buffer.from(text)
  const head = Buffer.alloc(9)
  head.write('R')
  head.writeInt32BE(8 + body.length, 1)
  head.writeInt32BE(kind, 5)
  return Buffer.concat([head, body])
}

/** A server that answers the first messages so, and closes nothing by itself. */
async function startServer(answers: readonly Buffer[]): Promise<string> {
  const server = createServer()
  server.on('connection', (socket) => {
    socket.on('error', () => undefined)
    const left = [...answers]
    socket.on('data', () => {
      const answer = left.shift()
      if (answer !== undefined) socket.write(answer)
    })
    cleanup.add(async () => void socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanup.add(async () => void server.close())
  const { port } = server.address() as AddressInfo
  return `postgresql://role@127.0.0.1:${port}/database`
}

/** Why a connection fails; nothing of it is left open then. */
async function failToConnect(answers: readonly Buffer[], parameters = ''): Promise<unknown> {
  const connectionString = `${await startServer(answers)}${parameters}`
  const sockets: Socket[] = []
  const stream = () => {
    const socket = new Socket()
    sockets.push(socket)
    return socket
  }
  const client = new DatabaseClient({ connectionString, stream })
  const failure: unknown = await client.connect().catch((error: unknown) => error)
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true])
  return failure
}

test('a role without a password is refused access, and its connection does not keep the process', async () => {
  const failure = await failToConnect([
    askForAuthentication(10, 'SCRAM-SHA-256\0\0'),
    askForAuthentication(11, 'r=nonce,s=c2FsdA==,i=4096'),
  ])
  expect(isAccessRefusal(failure)).toBe(true)
})

test('a server that speaks no TLS is told apart from a bug, with what to do', async () => {
  const failure = await failToConnect([Buffer.from('N')], '?sslmode=verify-full')
  expect(findDatabaseFault(failure)).toMatchObject({ kind: 'away' })
  expect(findDatabaseFault(failure)?.advice).toContain('ssl = on')
})
