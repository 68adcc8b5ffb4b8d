/* What the pages of a sign-in send: register this device, or ask somebody to confirm it. */
import type { ChangeOrigin } from '../../changes/change.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { AppError, notFound } from '../../platform/app-error.ts'
import { isId } from '../../platform/ids.ts'
import { isFromBrowserOf } from '../attempts/attempt-cookie-input.ts'
import { findAttempt } from '../attempts/attempt-store.ts'
import { takeKeyFallback } from '../browser-keys/key-fallback.ts'
import type { PageAnswer, PageRequest, PageRoute } from '../pages/page-surface.ts'
import { parseConfirmationWay, takeFallback } from './fallback-ladder.ts'
import { registerAttemptDevice } from './register-device.ts'

type Dependencies = Pick<Foundation, 'db' | 'runChange'> & { readonly baseUrl: string }

/** The forms of a sign-in whose device is new, or could not be proven. */
export function registrationPageRoutes(dependencies: Dependencies): PageRoute[] {
  const { runChange } = dependencies
  return [
    {
      method: 'POST',
      path: '/sign-in/attempts/:id/register',
      handler: async (request) => {
        const id = await getOwnAttemptId(dependencies, request)
        const message = readMessage(request)
        await runChange(toOrigin(request), (change) => registerAttemptDevice(change, id, message))
        return toAttempt(id)
      },
    },
    {
      method: 'POST',
      path: '/sign-in/attempts/:id/confirm',
      handler: async (request) => {
        const id = await getOwnAttemptId(dependencies, request)
        if (request.form.get('way') === 'browser_key') {
          await runChange(toOrigin(request), (change) => takeKeyFallback(change, id))
          return toAttempt(id)
        }
        const way = parseConfirmationWay(request.form.get('way'))
        if (way === undefined) throw new AppError('invalid_body', 'There is no such way.')
        const device = request.form.get('device')
        const deviceId = device !== undefined && isId(device) ? device : undefined
        await runChange(toOrigin(request), (change) => takeFallback(change, id, { way, deviceId }))
        return toAttempt(id)
      },
    },
  ]
}

const MESSAGE_LENGTH_MAX = 500

/** What the person writes to whoever decides; undefined for nothing. @throws AppError `invalid_body` */
function readMessage({ form }: PageRequest): string | undefined {
  const message = (form.get('message') ?? '').trim()
  if (message.length <= MESSAGE_LENGTH_MAX) return message === '' ? undefined : message
  const text = `The message may have ${MESSAGE_LENGTH_MAX} characters.`
  throw new AppError('invalid_body', text)
}

async function getOwnAttemptId(
  { db, baseUrl }: Dependencies,
  { params, headers }: PageRequest,
): Promise<string> {
  const { id = '' } = params
  const attempt = await findAttempt(db, id)
  if (attempt !== undefined && isFromBrowserOf(attempt, headers, baseUrl)) return attempt.id
  throw notFound('sign-in', id)
}

function toAttempt(id: string): PageAnswer {
  return { kind: 'see_other', to: `/sign-in/attempts/${id}` }
}

function toOrigin({ requestId, address }: PageRequest): ChangeOrigin {
  return { actor: SYSTEM_ACTOR, requestId, ipAddress: address }
}
