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
import type { ServiceSlot } from './service-slot.ts'

export class Balancer {
  readonly failures: string[] = []
  requestCount = 0
  readonly #slots: readonly ServiceSlot[]
  readonly #server: Server
  #turn = 0

  constructor(slots: readonly ServiceSlot[]) {
    this.#slots = slots
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
    const what = `${method ?? ''} ${url} at ${slot?.version?.name ?? 'no process'}`
    if (slot === undefined) {
      this.failures.push(what)
      answer.writeHead(503).end()
      return
    }
    const options = { host: '127.0.0.1', port: slot.port, method, path: url, headers, agent: false }
    const outgoing = request(options, (response) => {
      const { statusCode = 502 } = response
      if (statusCode >= 500) this.failures.push(`${what}: ${statusCode}`)
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
