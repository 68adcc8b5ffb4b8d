/*
 * What waits for a confirmation by the person, on a device that the person signed in with: another device that is to be
 * registered, or a sign-in whose device could not be proven. The code of that page shows that it is the person's own.
 */
import { AppError } from '../../../platform/app-error.ts'
import { isUuid } from '../../../platform/ids.ts'
import { listConfirmationsForDevice } from '../../registration/confirmation-store.ts'
import { isDeviceProof } from '../../attempts/is-device-proof.ts'
import { confirmFromDevice } from '../../registration/decide-confirmation.ts'
import type { PageRoute } from '../../pages/page-surface.ts'
import type { PersonSession } from '../session/person-session.ts'
import { ownAction, toPersonOrigin, type PersonPagesContext } from '../session/sign-in-routes.ts'
import { ME_PATHS } from './me-paths.ts'
import type { OwnRequests } from './show-requests.ts'

const SHOWN_MAX = 20

/** The requests that wait for this person, newest first; none on a device that was not proven. */
export async function listOwnRequests(
  { db, clock }: PersonPagesContext,
  { person, deviceId, assurance }: PersonSession,
): Promise<OwnRequests> {
  if (deviceId === null || !isDeviceProof(assurance)) return { shown: [], moreCount: 0 }
  const by = { personId: person.id, deviceId }
  const waiting = await listConfirmationsForDevice(db, by, clock.now(), SHOWN_MAX)
  const { confirmations, count } = waiting
  return { shown: confirmations, moreCount: count - confirmations.length }
}

export function confirmRoutes(context: PersonPagesContext): PageRoute[] {
  return [
    ownAction(context, ME_PATHS.confirm, async (session, request) => {
      const { form } = request
      const id = form.get('confirmation_id') ?? ''
      const { deviceId, person, assurance } = session
      if (deviceId === null || !isUuid(id)) {
        throw new AppError('conflict', 'This cannot be confirmed from here.')
      }
      const decision = { isApproved: form.get('decision') === 'yes', code: form.get('code') ?? '' }
      const outcome = await context.runChange(toPersonOrigin(session, request), async (change) =>
        confirmFromDevice(change, id, { deviceId, personId: person.id, assurance }, decision),
      )
      const to =
        outcome.kind === 'wrong_code' ? `${ME_PATHS.devices}?wrong_code=yes` : ME_PATHS.devices
      return { kind: 'see_other', to }
    }),
  ]
}
