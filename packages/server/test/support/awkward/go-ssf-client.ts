/*
 * The Go library `go-ssf`: a client that names the stream in the query and nowhere else, a poller that
 * reports in words of its own, and a push receiver that refuses in problem documents.
 */
import type { Respond } from '../loopback-receiver.ts'
import { ClientFailure, decodeObject, type Wire, type WireAnswer } from './wire.ts'

export interface GoSsfPaths {
  readonly config: string
  readonly status: string
  readonly addSubject: string
  readonly removeSubject: string
  readonly verify: string
  readonly poll: string
}

export class GoSsfClient {
  readonly #wire: Wire
  readonly #token: string
  readonly #paths: GoSsfPaths

  constructor(wire: Wire, token: string, paths: GoSsfPaths) {
    this.#wire = wire
    this.#token = token
    this.#paths = paths
  }

  getConfig(streamId: string): Promise<Record<string, unknown>> {
    return this.#object('GET', this.#paths.config, streamId)
  }

  /** Sends back the whole configuration, with the description changed. */
  async describe(streamId: string, description: string): Promise<Record<string, unknown>> {
    const body = { ...(await this.getConfig(streamId)), description }
    return this.#object('PATCH', this.#paths.config, streamId, body)
  }

  /** Knows of an envelope and of nothing else. */
  async listConfig(): Promise<unknown[]> {
    const { text } = await this.#call('GET', this.#paths.config)
    const { streams } = decodeObject(text)
    return Array.isArray(streams) ? (streams as unknown[]) : []
  }

  async setStatus(streamId: string, status: string): Promise<Record<string, unknown>> {
    return this.#object('POST', this.#paths.status, streamId, { status })
  }

  async addSubject(streamId: string, subject: object): Promise<void> {
    await this.#call('POST', this.#paths.addSubject, streamId, { subject })
  }

  async removeSubject(streamId: string, subject: object): Promise<void> {
    await this.#call('POST', this.#paths.removeSubject, streamId, { subject })
  }

  async verify(streamId: string, state: string): Promise<void> {
    await this.#call('POST', this.#paths.verify, streamId, { state })
  }

  async poll(streamId: string, body: object): Promise<Record<string, string>> {
    const answer = await this.#object('POST', this.#paths.poll, streamId, body)
    return answer['sets'] as Record<string, string>
  }

  async #object(...request: Parameters<GoSsfClient['send']>): Promise<Record<string, unknown>> {
    return decodeObject((await this.#call(...request)).text)
  }

  async #call(...request: Parameters<GoSsfClient['send']>): Promise<WireAnswer> {
    const answer = await this.send(...request)
    if (answer.status >= 200 && answer.status < 300) return answer
    throw new ClientFailure(`http error ${answer.status}: ${answer.text}`)
  }

  send(
    method: Parameters<Wire>[0]['method'],
    url: string,
    streamId?: string,
    body?: object,
  ): Promise<WireAnswer> {
    return this.#wire({
      method,
      url: streamId === undefined ? url : `${url}?stream_id=${encodeURIComponent(streamId)}`,
      headers: {
        accept: 'application/json, application/problem+json',
        authorization: `Bearer ${this.#token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json; charset=utf-8' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  }
}

/** What became of a SET at the poller. */
export type SinkResult = 'taken' | 'transient' | 'permanent' | 'invalid'

/** Reports in its next poll what became of the SETs of the last one. */
export class GoSsfPoller {
  readonly #wire: Wire
  readonly #url: string
  readonly #token: string
  #ack: string[] = []
  #setErrs: Record<string, { err: string; description: string }> = {}

  constructor(wire: Wire, url: string, token: string) {
    this.#wire = wire
    this.#url = url
    this.#token = token
  }

  async pollOnce(
    deliver: (jti: string, token: string) => SinkResult,
  ): Promise<Record<string, string>> {
    const { status, text } = await this.#wire({
      method: 'POST',
      url: this.#url,
      headers: {
        authorization: `Bearer ${this.#token}`,
        'content-type': 'application/json',
        accept: 'application/json',
      },
      body: this.#body(),
    })
    if (status < 200 || status > 299) throw new ClientFailure(`poll endpoint returned ${status}`)
    const sets = (decodeObject(text)['sets'] ?? {}) as Record<string, string>
    this.#ack = []
    this.#setErrs = {}
    for (const [jti, token] of Object.entries(sets)) this.#note(jti, deliver(jti, token))
    return sets
  }

  /** What is empty is left out; how long to wait is never said. */
  #body(): string {
    const hasErrors = Object.keys(this.#setErrs).length > 0
    return JSON.stringify({
      ...(this.#ack.length === 0 ? {} : { ack: this.#ack }),
      ...(hasErrors ? { setErrs: this.#setErrs } : {}),
      maxEvents: 100,
    })
  }

  #note(jti: string, result: SinkResult): void {
    if (result === 'taken' || result === 'permanent') this.#ack.push(jti)
    if (result === 'taken') return
    const err = result === 'invalid' ? 'invalid_set' : 'delivery_failed'
    this.#setErrs[jti] = { err, description: `the sink says: ${result}` }
  }
}

/** Answers a push as its handler does. */
export function goSsfPushAnswer(status: 202 | 400 | 413 | 415 | 503): Respond {
  if (status === 202) return (_request, response) => void response.writeHead(202).end()
  const title = TITLES[status]
  const problem = { title, status, detail: 'as the receiver says' }
  return (_request, response) =>
    void response
      .writeHead(status, { 'content-type': 'application/problem+json' })
      .end(JSON.stringify(problem))
}

const TITLES = {
  400: 'Invalid Security Event Token',
  413: 'Request Body Too Large',
  415: 'Unsupported Media Type',
  503: 'Transient Sink Failure',
} as const
