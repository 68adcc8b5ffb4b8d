/*
 * What stands in front of several processes: gives each request to one that is in rotation, in turns, and counts what
 * came of it. A request that it could not pass on, or that was answered with a fault of the service, has failed.
 */
import {
  createServer,
  request,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'

/** A process that gets requests while it is in rotation. */
export interface BalancedProcess {
  readonly name: string
  readonly port: number
  readonly isInRotation: boolean
}

export class Balancer {
  readonly failures: string[] = []
  requestCount = 0
  readonly #slots: readonly BalancedProcess[]
  readonly #server: Server
  readonly #onAnswered: (slotAt: number, request: IncomingMessage) => void
  #turn = 0

  /** `onAnswered` hears of every request that a process has answered well, by its place in the list. */
  constructor(
    slots: readonly BalancedProcess[],
    onAnswered: (slotAt: number, request: IncomingMessage) => void = () => undefined,
  ) {
    this.#slots = slots
    this.#onAnswered = onAnswered
    this.#server = createServer((incoming, answer) => this.#pass(incoming, answer))
  }

  async listen(port: number): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve))
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  #pass(incoming: IncomingMessage, answer: ServerResponse): void {
    const { method, url = '/', headers } = incoming
    const ready = this.#slots.filter(({ isInRotation }) => isInRotation)
    this.#turn += 1
    this.requestCount += 1
    const slot = ready[this.#turn % ready.length]
    const what = `${method ?? ''} ${url} at ${slot?.name ?? 'no process'}`
    if (slot === undefined) {
      this.failures.push(what)
      answer.writeHead(503).end()
      return
    }
    const options = { host: '127.0.0.1', port: slot.port, method, path: url, headers, agent: false }
    const outgoing = request(options, (response) => {
      const { statusCode = 502 } = response
      if (statusCode >= 500) this.failures.push(`${what}: ${statusCode}`)
      if (statusCode < 300) {
        response.once('end', () => this.#onAnswered(this.#slots.indexOf(slot), incoming))
      }
      answer.writeHead(statusCode, response.headers)
      response.pipe(answer)
    })
    outgoing.on('error', (error) => {
      if (isGone) return
      this.failures.push(`${what}: ${error.message}`)
      if (!answer.headersSent) answer.writeHead(502)
      answer.end()
    })
    let isGone = false
    answer.on('close', () => {
      if (answer.writableFinished) return
      // Whoever asked went away.
      isGone = true
      outgoing.destroy()
    })
    incoming.pipe(outgoing)
  }
}
