import type { Change } from '../../changes/change.ts'
import { getClient } from '../clients/client-store.ts'
import { addStream } from './add-stream.ts'
import type { StreamContext, StreamDependencies } from './stream-context.ts'
import type { StreamInput } from './stream-input.ts'
import type { Stream } from './stream-store.ts'
import { announceActivity } from './stream-activity.ts'
import { toSurfaceUrls } from './surface-urls.ts'

/**
 * Creates a stream of a client, enabled, with the choices of the client's profile, and leaves an audit
 * entry. Everything is optional; without a delivery the stream polls. SSF 1.0 section 8.1.1.1.
 *
 * @throws AppError `target_refused`, `limit_reached`
 */
export async function createClientStream(
  change: Change,
  clientId: string,
  input: StreamInput,
  dependencies: StreamDependencies & Pick<StreamContext, 'settings'>,
): Promise<Stream> {
  const { settings, baseUrl } = dependencies
  const client = await getClient(change.tx, clientId)
  const stream = await addStream(
    change,
    input,
    {
      surface: 'strict',
      issuer: toSurfaceUrls(baseUrl).issuer,
      profile: client.profile,
      audience: () => client.audience ?? client.clientId,
      name: (streamId) => `${client.name} ${streamId.slice(0, 8)}`,
      eventsRequested: [],
      clientValues: {
        ssfClientId: client.id,
        defaultSubjects: client.defaultSubjects ?? settings.defaultSubjects,
        lastActivityAt: change.at,
      },
      auditOfClient: { client_id: client.clientId },
    },
    dependencies,
  )
  announceActivity(change, settings)
  return stream
}
