import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { text } from 'node:stream/consumers'

export interface LoopbackServer {
  readonly url: string
  close(): Promise<void>
}

/** Serves on a free loopback port until closed; closing cuts what is still open. */
export async function serveOnLoopback(listener: RequestListener): Promise<LoopbackServer> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('no address')
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Reads a JSON request body. */
export async function readJsonBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  return JSON.parse(await text(request)) as Record<string, unknown>
}
