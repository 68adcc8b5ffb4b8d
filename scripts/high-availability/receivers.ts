/* A receiver of pushes and one that polls: what came, in which order, and whether a repetition had the same bytes. */
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import {
  createPollClient,
  createPushHandler,
  createSetVerifier,
  type VerifiedSet,
} from '@heliograph/receiver'
import { toNodeHandler } from '@heliograph/receiver/node'
import { STREAM_SEQUENCE } from '@heliograph/ssf'
import { takePorts } from './take-ports.ts'

/** What is looked at of a SET. */
type TakenSet = Pick<VerifiedSet, 'jti' | 'txn' | 'claims' | 'token'>

/** What is remembered of a SET. */
export interface ReceivedSet {
  readonly txn: string
  /** The device that it is about. */
  readonly deviceId: string
  /** Its number in the stream. */
  readonly sequence: number
  /** The compliance word that it tells. */
  readonly to: string
}

/** What a receiver got. Nothing is remembered by the SDK: repetitions are of interest here. */
export class Inbox {
  /** In the order in which they came first. */
  readonly sets: ReceivedSet[] = []
  readonly problems: string[] = []
  repeatedCount = 0
  /** Of the bytes of each SET, by its `jti`. */
  readonly #digests = new Map<string, string>()
  readonly #txns = new Set<string>()
  readonly #numbers = new Set<number>()
  #least = Infinity
  #most = -Infinity

  take({ jti, txn = '', claims, token }: TakenSet): void {
    const digest = createHash('sha256').update(token).digest('base64')
    const known = this.#digests.get(jti)
    if (known !== undefined) {
      this.repeatedCount += 1
      if (known !== digest) this.problems.push(`${jti} came again with other bytes`)
      return
    }
    this.#digests.set(jti, digest)
    this.#txns.add(txn)
    const sequence = Number(claims[STREAM_SEQUENCE])
    this.#numbers.add(sequence)
    this.#least = Math.min(this.#least, sequence)
    this.#most = Math.max(this.#most, sequence)
    this.sets.push({
      txn,
      deviceId: (claims['sub_id'] as { device?: { sub?: string } }).device?.sub ?? '',
      sequence,
      to: readStatus(claims['events']),
    })
  }

  /** The compliance word that was told last of each device, by its id. */
  lastWords(): Map<string, string> {
    return new Map(this.sets.map(({ deviceId, to }) => [deviceId, to]))
  }

  hasTxn(txn: string): boolean {
    return this.#txns.has(txn)
  }

  /** What the numbers of its events lack; empty when each stands on one event. */
  findGaps(): string[] {
    const { length } = this.sets
    const { size } = this.#numbers
    return length === 0 || (this.#most - this.#least + 1 === size && size === length)
      ? []
      : [`the numbers ${this.#least} to ${this.#most} of its stream stand on ${length} events`]
  }
}

function readStatus(events: unknown): string {
  const [event] = Object.values(events as Readonly<Record<string, { current_status?: string }>>)
  return event?.current_status ?? ''
}

export interface Stream {
  readonly id: string
  readonly aud: string
  readonly delivery: { readonly endpoint_url: string }
}

/** Receives pushes at a port that is given before the stream, and so its audience, is there. */
export interface PushReceiver {
  readonly url: string
  readonly inbox: Inbox
  begin(stream: Stream, baseUrl: string): void
  close(): void
}

export async function startPushReceiver(): Promise<PushReceiver> {
  const [port = 0] = await takePorts(1)
  const inbox = new Inbox()
  let handle: ((request: Request) => Promise<Response>) | undefined
  const server = createServer(
    toNodeHandler(async (request) => handle?.(request) ?? new Response(null, { status: 503 })),
  )
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${port}/events`,
    inbox,
    begin(stream, baseUrl) {
      handle = createPushHandler({
        verifier: toVerifier(stream, baseUrl),
        onEvent: (set) => inbox.take(set),
        onRefused: (outcome) => {
          if (outcome.kind === 'refused') inbox.problems.push(outcome.error.message)
        },
      })
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Polls until the signal is aborted. */
export function startPolling(
  stream: Stream,
  baseUrl: string,
  key: string,
  signal: AbortSignal,
): { readonly inbox: Inbox; readonly ended: Promise<void> } {
  const inbox = new Inbox()
  const client = createPollClient({
    endpointUrl: stream.delivery.endpoint_url,
    authorization: `Bearer ${key}`,
    verifier: toVerifier(stream, baseUrl),
    onEvent: (set) => inbox.take(set),
    returnImmediately: true,
    idlePauseMs: 200,
    backOffMs: 100,
    backOffMaxMs: 1_000,
  })
  return { inbox, ended: client.start(signal) }
}

function toVerifier(stream: Stream, baseUrl: string) {
  return createSetVerifier({
    issuer: baseUrl,
    audience: stream.aud,
    keys: { jwksUri: `${baseUrl}/ssf/jwks.json` },
  })
}
