/* The state of a stream on the wire, the same on both surfaces. */
import {
  parseStreamReplayRequest,
  STREAM_STATE_PAGE_SUBJECTS_MAX,
  type StreamReplayRequest,
  type StreamState,
} from '@heliograph/ssf'
import { invalidBody, invalidCursor } from '../../platform/app-error.ts'
import { isId } from '../../platform/ids.ts'
import type { StreamContext } from '../streams/stream-context.ts'
import type { Stream } from '../streams/stream-store.ts'
import { readStreamState } from './stream-state.ts'

/**
 * A page of the state of a stream. The cursor is the place at which the page before ended; whoever makes
 * one up gets another page of what they may read anyway.
 *
 * @throws AppError `invalid_cursor`
 */
export async function readStatePage(
  stream: Stream,
  cursor: string | undefined,
  context: Pick<StreamContext, 'db' | 'clock' | 'sealer'>,
): Promise<StreamState> {
  const isFirst = cursor === undefined || cursor === ''
  if (!isFirst && !isId(cursor)) throw invalidCursor('The cursor was not issued by this service.')
  const window = { afterId: isFirst ? '0' : cursor, limit: STREAM_STATE_PAGE_SUBJECTS_MAX }
  const { state, lastId } = await readStreamState(stream, window, context)
  return { ...state, next_cursor: lastId }
}

/**
 * Where a replay is to begin.
 *
 * @throws AppError `invalid_body`
 */
export function readReplayRequest(body: unknown): StreamReplayRequest {
  const parsed = parseStreamReplayRequest(body)
  if (parsed.ok) return parsed.value
  throw invalidBody(parsed.issues)
}
