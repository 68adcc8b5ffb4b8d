// What may be sent to a transmitter. A request that every transmitter must refuse is refused here,
// with a TypeError that says why.
import {
  describeIssues,
  parseStreamCreateRequest,
  parseStreamReplayRequest,
  parseSubjectIdentifier,
  VERIFICATION_STATE_LENGTH_MAX,
  type ParseResult,
  type StreamReplayRequest,
  type SubjectIdentifier,
} from '@heliograph/ssf'
import type { StreamInput } from './stream-client.ts'

const STREAM_ID_LENGTH_MAX = 256

/** @throws TypeError when it cannot be a stream id. */
export function checkStreamId(streamId: string): string {
  if (streamId !== '' && streamId.length <= STREAM_ID_LENGTH_MAX) return streamId
  throw new TypeError('a stream id is a text of 1 to 256 characters')
}

/**
 * Leaves what a receiver may supply: the transmitter's own members, which are there when a stream
 * that was read is given back, are dropped.
 *
 * @throws TypeError
 */
export function checkStreamInput(input: StreamInput): StreamInput {
  const supplied = checked(parseStreamCreateRequest(input), 'stream')
  const { heliograph_sequence } = input
  return heliograph_sequence === undefined ? supplied : { ...supplied, heliograph_sequence }
}

/** @throws TypeError */
export function checkSubject(subject: SubjectIdentifier): SubjectIdentifier {
  return checked(parseSubjectIdentifier(subject), 'subject')
}

/** @throws TypeError */
export function checkReplayRequest(from: StreamReplayRequest): StreamReplayRequest {
  return checked(parseStreamReplayRequest(from), 'replay')
}

/** @throws TypeError */
export function checkVerificationState(state: string): string {
  if (state.length <= VERIFICATION_STATE_LENGTH_MAX) return state
  throw new TypeError(`a state has at most ${VERIFICATION_STATE_LENGTH_MAX} characters`)
}

function checked<Value>(parsed: ParseResult<Value>, what: string): Value {
  if (parsed.ok) return parsed.value
  throw new TypeError(`${what}: ${describeIssues(parsed.issues)}`)
}
