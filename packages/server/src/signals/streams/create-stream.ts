import { DEVICE_COMPLIANCE_CHANGE } from '@heliograph/ssf'
import type { Change } from '../../changes/change.ts'
import { addStream } from './add-stream.ts'
import { refuseIf } from './refuse-if.ts'
import type { StreamDependencies } from './stream-context.ts'
import type { StreamInput } from './stream-input.ts'
import { pollUrl } from './stream-json.ts'
import type { Stream } from './stream-store.ts'

/**
 * Creates a stream of the root issuer, enabled, and leaves an audit entry. Without a delivery it
 * polls. The audience is the given one, else the endpoint URL, else the poll URL of the stream.
 *
 * @throws AppError `invalid_body` without a name, or a push stream without an endpoint;
 * `target_refused`; `limit_reached`.
 */
export async function createStream(
  change: Change,
  input: StreamInput,
  dependencies: StreamDependencies,
): Promise<Stream> {
  const name = assertComplete(input)
  const { baseUrl } = dependencies
  return addStream(
    change,
    input,
    {
      surface: 'root',
      issuer: baseUrl,
      profile: 'interface',
      audience: (streamId) => input.endpointUrl ?? pollUrl(baseUrl, streamId),
      name: () => name,
      eventsRequested: [DEVICE_COMPLIANCE_CHANGE],
    },
    dependencies,
  )
}

/** The name, once nothing that is required is missing. */
function assertComplete(input: StreamInput): string {
  const isPush = input.deliveryMethod === 'push'
  const isUrlMissing = isPush && (input.endpointUrl ?? null) === null
  const hasStrayHeader = !isPush && (input.authorizationHeader ?? null) !== null
  refuseIf([
    input.name === undefined && {
      path: input.endpointPath === 'ssf_stream.aud' ? 'ssf_stream.name' : 'name',
      message: 'This is required: a string.',
    },
    isUrlMissing && {
      path: input.endpointPath,
      message: 'Push streams need the URL of the receiver.',
    },
    hasStrayHeader && {
      path: 'authorization_header',
      message: 'Only push streams send a header.',
    },
  ])
  return input.name ?? ''
}
