// The client of the stream management API of SSF 1.0 section 8: strict in what it sends, tolerant
// of what transmitters of the field answer.
import {
  parseStreamConfiguration,
  parseStreamConfigurationList,
  parseStreamReplayAnswer,
  parseStreamState,
  parseStreamStatusMessage,
  streamReplayUrl,
  streamStateUrl,
  type ReceivedStream,
  type StreamState,
  type StreamStatusMessage,
} from '@heliograph/ssf'
import {
  checkReplayRequest,
  checkStreamId,
  checkStreamInput,
  checkSubject,
  checkVerificationState,
} from './check-input.ts'
import {
  createManagementRequests,
  readAnswer,
  type EndpointName,
  type ManagementRequest,
  type ManagementRequests,
  type StreamClientOptions,
} from './management-requests.ts'
import { TransmitterError } from '../errors.ts'
import { followSignal, toTimerMs } from '../request-limit.ts'
import type { TransmitterResponse } from '../transmitter-request.ts'
import type { CallOptions, StreamClient } from './stream-client.ts'

/** Most pages of a state that are read before a transmitter is taken to go in circles. */
const STATE_PAGES_MAX = 100_000

/**
 * Creates a client for the streams of one transmitter. The discovery document is fetched at first
 * use and kept while it is fresh.
 *
 * @throws TypeError when the issuer is neither HTTPS nor loopback, or a time, size or count is none.
 */
export function createStreamClient(options: StreamClientOptions): StreamClient {
  const requests = createManagementRequests(options)
  const streams = streamMethods(requests)
  const state = stateMethods(requests)
  const post = bodySender(requests, 'POST')

  const client: StreamClient = {
    getConfiguration: (call = {}) => requests.getConfiguration(call),
    ...streams,
    ...state,
    ...statusMethods(requests),
    async addSubject(streamId, subject, { isVerified, ...call } = {}) {
      await post('add_subject_endpoint', call, {
        stream_id: checkStreamId(streamId),
        subject: checkSubject(subject),
        ...(isVerified === undefined ? {} : { verified: isVerified }),
      })
    },
    async removeSubject(streamId, subject, call = {}) {
      const body = { stream_id: checkStreamId(streamId), subject: checkSubject(subject) }
      await post('remove_subject_endpoint', call, body)
    },
    async requestVerification(streamId, { state: text, members, ...call } = {}) {
      const body = {
        ...members,
        stream_id: checkStreamId(streamId),
        ...(text === undefined ? {} : { state: checkVerificationState(text) }),
      }
      await post('verification_endpoint', call, body, streamId)
    },
    async verifyAndWait(streamId, { verifications, waitMs = 60_000, ...call }) {
      // A time that is none is refused before anything is sent.
      toTimerMs(waitMs)
      const text = crypto.randomUUID()
      const { controller, release } = followSignal(call.signal)
      try {
        // Waiting begins first: the event can come before the answer to the request.
        const arrival = verifications.wait(text, { waitMs, signal: controller.signal })
        arrival.catch(() => undefined)
        await client.requestVerification(streamId, { ...call, state: text })
        return await arrival
      } catch (error) {
        controller.abort()
        throw error
      } finally {
        release()
      }
    },
  }
  return client
}

/** Sends a JSON body to an endpoint of the discovery document. */
type BodySender = (
  name: EndpointName,
  call: CallOptions,
  body: object,
  streamId?: string,
) => Promise<TransmitterResponse>

function bodySender(requests: ManagementRequests, method: ManagementRequest['method']): BodySender {
  return async (name, call, body, streamId) => {
    const details = streamId === undefined ? {} : { streamId }
    const url = await requests.findEndpoint(name, call, details)
    return requests.send({ method, url, body }, call)
  }
}

type StreamMethods = Pick<
  StreamClient,
  'createStream' | 'getStream' | 'listStreams' | 'updateStream' | 'replaceStream' | 'deleteStream'
>

function streamMethods(requests: ManagementRequests): StreamMethods {
  async function onStream(
    method: 'GET' | 'DELETE',
    call: CallOptions,
    query: Readonly<Record<string, string>>,
  ) {
    const url = await requests.findEndpoint('configuration_endpoint', call, { query })
    return requests.send({ method, url }, call)
  }

  async function getStream(streamId: string, call: CallOptions = {}): Promise<ReceivedStream> {
    const answer = await onStream('GET', call, { stream_id: checkStreamId(streamId) })
    return readAnswer(answer, parseStreamConfiguration)
  }

  async function write(
    method: 'PATCH' | 'PUT',
    call: CallOptions,
    body: { readonly stream_id: string },
  ): Promise<ReceivedStream> {
    const answer = await bodySender(requests, method)('configuration_endpoint', call, body)
    // Accepted but not done yet (202), or done without a word: what holds now is read.
    if (answer.json === undefined) return getStream(body.stream_id, call)
    return readAnswer(answer, parseStreamConfiguration)
  }

  return {
    async createStream(input = {}, call = {}) {
      const body = checkStreamInput(input)
      const answer = await bodySender(requests, 'POST')('configuration_endpoint', call, body)
      return readAnswer(answer, parseStreamConfiguration)
    },
    getStream,
    async listStreams(call = {}) {
      return readAnswer(await onStream('GET', call, {}), parseStreamConfigurationList)
    },
    updateStream: async (streamId, changes, call = {}) =>
      write('PATCH', call, { stream_id: checkStreamId(streamId), ...checkStreamInput(changes) }),
    replaceStream: async (streamId, input, call = {}) =>
      write('PUT', call, { stream_id: checkStreamId(streamId), ...checkStreamInput(input) }),
    async deleteStream(streamId, call = {}) {
      await onStream('DELETE', call, { stream_id: checkStreamId(streamId) })
    },
  }
}

function statusMethods(
  requests: ManagementRequests,
): Pick<StreamClient, 'getStatus' | 'setStatus'> {
  /** The stream was named in the request; some transmitters leave it out of the answer. */
  function readStatus(streamId: string, answer: TransmitterResponse) {
    return readAnswer(answer, (body) =>
      parseStreamStatusMessage(
        typeof body === 'object' && body !== null ? { stream_id: streamId, ...body } : body,
      ),
    )
  }

  async function getStatus(streamId: string, call: CallOptions = {}): Promise<StreamStatusMessage> {
    const query = { stream_id: checkStreamId(streamId) }
    const url = await requests.findEndpoint('status_endpoint', call, { query })
    return readStatus(streamId, await requests.send({ method: 'GET', url }, call))
  }

  return {
    getStatus,
    async setStatus(streamId, status, { reason, ...call } = {}) {
      const answer = await bodySender(requests, 'POST')('status_endpoint', call, {
        stream_id: checkStreamId(streamId),
        status,
        ...(reason === undefined ? {} : { reason }),
      })
      const isDecided = answer.status !== 202 && answer.json !== undefined
      return isDecided ? readStatus(streamId, answer) : getStatus(streamId, call)
    },
  }
}

function stateMethods(
  requests: ManagementRequests,
): Pick<StreamClient, 'readState' | 'statePages' | 'replay'> {
  async function readState(
    streamId: string,
    { cursor, ...call }: CallOptions & { readonly cursor?: string } = {},
  ): Promise<StreamState> {
    const endpoint = await requests.findEndpoint('configuration_endpoint', call)
    const url = new URL(streamStateUrl(endpoint, checkStreamId(streamId)))
    if (cursor !== undefined) url.searchParams.set('cursor', cursor)
    const answer = await requests.send({ method: 'GET', url: url.href }, call)
    return readAnswer(answer, parseStreamState)
  }

  async function* statePages(
    streamId: string,
    call: CallOptions = {},
  ): AsyncGenerator<StreamState> {
    let cursor: string | null = null
    for (let pages = 0; pages < STATE_PAGES_MAX; pages += 1) {
      const page: StreamState = await readState(
        streamId,
        cursor === null ? call : { ...call, cursor },
      )
      yield page
      cursor = page.next_cursor
      if (cursor === null) return
    }
    throw new TransmitterError('bad_response', 'the state of the stream has no end')
  }

  return {
    readState,
    statePages,
    async replay(streamId, from, call = {}) {
      const body = checkReplayRequest(from)
      const endpoint = await requests.findEndpoint('configuration_endpoint', call)
      const url = streamReplayUrl(endpoint, checkStreamId(streamId))
      const answer = await requests.send({ method: 'POST', url, body }, call)
      return readAnswer(answer, parseStreamReplayAnswer)
    },
  }
}
