/*
 * A receiver that verifies every SET, and remembers what it may judge at the end: what came, in which order, with
 * which bytes. Now and then it has no time, so that events are also tried again.
 */
import { createServer, type Server } from 'node:http'
import { text } from 'node:stream/consumers'
import { STREAM_SEQUENCE } from '@heliograph/ssf'
import { createSetVerifier, type SetVerifier } from '@heliograph/receiver'

/** Every so many requests are answered with 503. */
const BUSY_EVERY = 40

export class JudgingReceiver {
  readonly problems: string[] = []
  readonly #sequences = new Set<number>()
  readonly #tokens = new Map<string, string>()
  readonly #lastOfSubject = new Map<string, number>()
  readonly #server: Server
  #verifier: SetVerifier | undefined
  #requestCount = 0

  constructor() {
    this.#server = createServer((request, response) => {
      void text(request)
        .then((token) => this.#take(token))
        .then((status) => response.writeHead(status).end())
        .catch((error: unknown) => {
          this.problems.push(String(error))
          response.writeHead(500).end()
        })
    })
  }

  get count(): number {
    return this.#tokens.size
  }

  /** Answers the address to push to. */
  async listen(port: number): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve))
    return `http://127.0.0.1:${port}/events`
  }

  verifyBy(baseUrl: string, audience: string): void {
    const keys = { jwksUri: `${baseUrl}/ssf/jwks.json` }
    this.#verifier = createSetVerifier({ issuer: baseUrl, audience, keys })
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  /** What is missing among the numbers that came. */
  gaps(): number[] {
    const last = Math.max(0, ...this.#sequences)
    return Array.from({ length: last }, (_, index) => index + 1).filter(
      (sequence) => !this.#sequences.has(sequence),
    )
  }

  async #take(token: string): Promise<number> {
    this.#requestCount += 1
    if (this.#requestCount % BUSY_EVERY === 0) return 503
    if (this.#verifier === undefined) return 503
    const { jti, claims } = await this.#verifier.verify(token)
    const before = this.#tokens.get(jti)
    if (before !== undefined) {
      if (before !== token) this.problems.push(`${jti} came again with other bytes`)
      return 202
    }
    this.#tokens.set(jti, token)
    const sequence = Number(claims[STREAM_SEQUENCE])
    if (this.#sequences.has(sequence)) this.problems.push(`the number ${sequence} came twice`)
    this.#sequences.add(sequence)
    const subject = JSON.stringify(claims['sub_id'])
    if (sequence < (this.#lastOfSubject.get(subject) ?? 0)) {
      this.problems.push(`${sequence} came after a later one of its subject`)
    }
    this.#lastOfSubject.set(subject, sequence)
    return 202
  }
}
