import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request as a receiver saw it. */
export interface ReceivedRequest {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
  readonly atMs: number
}

/** Answers one request; not calling `end` leaves it without an answer. */
export type Respond = (request: ReceivedRequest, response: ServerResponse) => void

export interface LoopbackReceiver {
  readonly url: string
  readonly requests: ReceivedRequest[]
  /** Changes the answers from now on. */
  respond(respond: Respond): void
  close(): Promise<void>
}

/** Answers with a status and nothing else. */
export function answerWith(status: number, headers: Record<string, string> = {}): Respond {
  return (_request, response) => void response.writeHead(status, headers).end()
}

/** A real HTTP receiver on the loopback address; accepts everything unless told otherwise. */
export async function startLoopbackReceiver(
  first: Respond = answerWith(202),
): Promise<LoopbackReceiver> {
  let respond = first
  const requests: ReceivedRequest[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const received = {
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
        atMs: performance.now(),
      }
      requests.push(received)
      respond(received, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    respond: (next) => {
      respond = next
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
