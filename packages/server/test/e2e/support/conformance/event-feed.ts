/*
 * How SETs reach the suite: pushed to it, or polled by it.
 */
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SuiteClient } from './suite-client.ts'

/** A SET as it came. */
export interface ReceivedSet {
  readonly token: string
  readonly claims: SetClaims
  /** Of the push; empty for polled ones. */
  readonly headers: IncomingHttpHeaders
  readonly method: string | undefined
}

export interface SetClaims {
  readonly jti?: string
  readonly iss?: string
  readonly aud?: string | readonly string[]
  readonly iat?: number
  readonly sub_id?: { readonly format?: string; readonly id?: string }
  readonly events?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly [claim: string]: unknown
}

const LOOK_EVERY_MS = 50

/** A receiver that answers 202 to whatever is pushed to it. */
export class PushSink {
  readonly received: ReceivedSet[] = []
  readonly #server: Server

  constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const token = Buffer.concat(chunks).toString()
        const { headers, method } = request
        this.received.push({ token, claims: readClaims(token), headers, method })
        response.writeHead(202).end()
      })
    })
  }

  /** Where to push to. */
  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    const address = this.#server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    return `http://127.0.0.1:${port}/ssf-push`
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}

/** One poll, by default at once; answers the SETs in their order. */
export async function pollOnce(
  client: SuiteClient,
  endpoint: string,
  token: string,
  body: object = { returnImmediately: true },
): Promise<ReceivedSet[]> {
  const { status, json, text } = await client.send(endpoint, { method: 'POST', token, body })
  if (status !== 200) throw new Error(`the poll was refused: ${status} ${text}`)
  const { sets } = json as { sets: Record<string, string> }
  return Object.entries(sets).map(([jti, set]) => {
    const claims = readClaims(set)
    if (claims.jti !== jti) throw new Error('the key of a polled SET is not its jti')
    return { token: set, claims, headers: {}, method: undefined }
  })
}

/** Looks until something is found, or the time is over. */
export async function waitForSet(
  look: () => Promise<readonly ReceivedSet[]> | readonly ReceivedSet[],
  isWanted: (set: ReceivedSet) => boolean,
  timeoutMs: number,
): Promise<ReceivedSet> {
  const end = performance.now() + timeoutMs
  for (;;) {
    const found = (await look()).find(isWanted)
    if (found !== undefined) return found
    if (performance.now() > end) throw new Error(`no such SET within ${timeoutMs} ms`)
    await sleep(LOOK_EVERY_MS)
  }
}

function readClaims(token: string): SetClaims {
  const [, payload = ''] = token.split('.')
  return JSON.parse(Buffer.from(payload, 'base64url').toString()) as SetClaims
}
