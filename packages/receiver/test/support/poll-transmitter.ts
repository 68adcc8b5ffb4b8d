import type { IncomingMessage, ServerResponse } from 'node:http'
import { readJsonBody, serveOnLoopback, type LoopbackServer } from './loopback-server.ts'

export interface PollRequestSeen {
  readonly method: string
  readonly body: Record<string, unknown> | undefined
  readonly headers: IncomingMessage['headers']
}

/** A small poll transmitter: hands out what is queued until it is acknowledged or refused. */
export interface PollTransmitter extends LoopbackServer {
  readonly queue: Map<string, string>
  readonly requests: PollRequestSeen[]
  readonly refused: Map<string, unknown>
  /** Answers the next requests instead of the queue, first come first used. */
  readonly interruptions: ((response: ServerResponse) => void)[]
}

export async function startPollTransmitter(): Promise<PollTransmitter> {
  const queue = new Map<string, string>()
  const requests: PollRequestSeen[] = []
  const refused = new Map<string, unknown>()
  const interruptions: PollTransmitter['interruptions'] = []

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const method = request.method ?? ''
    const body = method === 'POST' ? await readJsonBody(request) : undefined
    requests.push({ method, body, headers: request.headers })
    const interruption = interruptions.shift()
    if (interruption !== undefined) {
      interruption(response)
      return
    }
    for (const jti of (body?.['ack'] as string[] | undefined) ?? []) queue.delete(jti)
    for (const [jti, error] of Object.entries(body?.['setErrs'] ?? {})) {
      queue.delete(jti)
      refused.set(jti, error)
    }
    const maxEvents = (body?.['maxEvents'] as number | undefined) ?? 100
    const sets = Object.fromEntries([...queue].slice(0, maxEvents))
    const isMoreAvailable = queue.size > maxEvents && maxEvents > 0
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ sets, ...(isMoreAvailable ? { moreAvailable: true } : {}) }))
  }

  const server = await serveOnLoopback((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  return { ...server, queue, requests, refused, interruptions }
}
