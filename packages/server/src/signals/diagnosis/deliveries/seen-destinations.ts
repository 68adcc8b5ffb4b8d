import { STREAM_ACCESS } from '../../streams/stream-access.ts'
import { WEBHOOK_ACCESS } from '../../webhooks/webhook-routes.ts'
import type { DestinationKind } from './all-deliveries-read.ts'

/** Whose deliveries the caller sees: of what it may manage, as long as that is switched on. */
export type SeeDestinations = (caller: {
  readonly permissions: ReadonlySet<string>
}) => Promise<readonly DestinationKind[]>

/** `isSsfEnabled` says whether Shared Signals are switched on, which closes the streams. */
export function createSeeDestinations(isSsfEnabled: () => Promise<boolean>): SeeDestinations {
  return async ({ permissions }) => {
    const seesStreams = permissions.has(STREAM_ACCESS.permission) && (await isSsfEnabled())
    const seesWebhooks = permissions.has(WEBHOOK_ACCESS.permission)
    return [
      ...(seesStreams ? (['ssf_stream'] as const) : []),
      ...(seesWebhooks ? (['webhook'] as const) : []),
    ]
  }
}
