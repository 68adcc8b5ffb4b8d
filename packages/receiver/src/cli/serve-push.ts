import { createServer, type Server } from 'node:http'
import { toNodeHandler } from '../node-handler.ts'
import type { PushHandler } from '../push-handler.ts'

/** Where pushes are received. */
export interface ServePushOptions {
  /** Default `127.0.0.1`. */
  readonly host?: string
  /** 0 takes a free port. */
  readonly port: number
  /** Told the URL once pushes can come. */
  readonly onReady?: ((url: string) => void) | undefined
  readonly signal: AbortSignal
}

/** How often connections that became idle are closed while stopping. */
const IDLE_SWEEP_MS = 20

/**
 * Serves until the signal is aborted; answers under way are finished.
 *
 * @throws what the system says when the port cannot be had.
 */
export async function servePush(handler: PushHandler, options: ServePushOptions): Promise<void> {
  const { signal, host = '127.0.0.1' } = options
  const server = createServer(
    { requestTimeout: 30_000, headersTimeout: 10_000 },
    toNodeHandler(handler),
  )
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, host, resolve)
  })
  options.onReady?.(urlOf(server, host))
  await new Promise<void>((resolve) => {
    const stop = () => {
      // A connection becomes idle only after its last answer has gone out.
      const sweep = setInterval(() => server.closeIdleConnections(), IDLE_SWEEP_MS)
      server.close(() => {
        clearInterval(sweep)
        resolve()
      })
    }
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}

function urlOf(server: Server, host: string): string {
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}/`
}
