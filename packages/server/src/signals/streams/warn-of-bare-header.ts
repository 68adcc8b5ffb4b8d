import type { Change } from '../../changes/change.ts'
import type { Logger } from '../../platform/logger.ts'
import type { Stream } from './stream-store.ts'

/** `Bearer abc` and `Basic abc` have one, a bare token has none (RFC 9110 section 11.4). */
const WITH_SCHEME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+ +\S/

/**
 * Warns in the log, once the change is made, of an authorization header without a scheme word. It is sent
 * as it was given, because some receivers want it so; most refuse it. The value is not told.
 */
export function warnOfBareHeader(
  change: Change,
  stream: Pick<Stream, 'id' | 'streamId' | 'name'>,
  authorizationHeader: string | null | undefined,
  log: Pick<Logger, 'warn'> | undefined,
): void {
  if (typeof authorizationHeader !== 'string' || WITH_SCHEME.test(authorizationHeader)) return
  change.afterCommit(() =>
    log?.warn(
      { id: stream.id, stream_id: stream.streamId, name: stream.name },
      'the authorization header of a stream begins with no scheme such as Bearer',
    ),
  )
}
