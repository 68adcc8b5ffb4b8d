import type { Authorization } from '../authorization/authorization-source.ts'
import { createStreamClient } from '../stream-client/create-stream-client.ts'
import type { FetchFunction } from '../transmitter-request.ts'
import { printable, type TextOutput } from './text-output.ts'

/** What `trigger` needs. */
export interface TriggerOptions {
  readonly issuer: string
  readonly streamId: string
  readonly authorization: Authorization
  /** Comes back in the event. Default a random one. */
  readonly state?: string | undefined
  /** Further members of the request, such as the `email` that Heliograph's API-key form asks for. */
  readonly members?: Readonly<Record<string, string>>
  /** Allows plain HTTP beyond the loopback interface. */
  readonly isHttpAllowed?: boolean
  /** One JSON object instead of text. */
  readonly isJson?: boolean
  readonly output: TextOutput
  readonly signal?: AbortSignal
  readonly fetch?: FetchFunction
}

/** What was asked for. */
export interface TriggerResult {
  readonly stream_id: string
  readonly state: string
}

/**
 * Asks a transmitter for a verification event and prints the state by which it can be known. That
 * the event comes is for `listen` to see.
 *
 * @throws TransmitterError when the transmitter refuses or cannot be reached.
 */
export async function trigger(options: TriggerOptions): Promise<TriggerResult> {
  const { issuer, streamId, authorization, members, fetch, signal } = options
  const state = options.state ?? crypto.randomUUID()
  const client = createStreamClient({
    issuer,
    authorization,
    isHttpAllowed: options.isHttpAllowed ?? false,
    ...(fetch === undefined ? {} : { fetch }),
  })
  await client.requestVerification(streamId, {
    state,
    ...(members === undefined ? {} : { members }),
    ...(signal === undefined ? {} : { signal }),
  })
  const result = { stream_id: streamId, state }
  options.output.write(
    options.isJson === true
      ? `${JSON.stringify(result)}\n`
      : `${printable(`asked for a verification event on stream ${streamId}, state=${state}`)}\n`,
  )
  return result
}
