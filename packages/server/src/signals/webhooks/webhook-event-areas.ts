/*
 * Which events of webhooks repeat what belongs to an area of its own. Owns that an admin who may not see an area
 * is not told of it by a webhook either; keys see what their permissions open.
 */
import { AppError } from '../../platform/app-error.ts'
import { mayOpenArea } from '../../schema/access-levels.ts'
import type { SubscribableEvent } from './webhook-event-types.ts'

/** Who asks; with a session where it is an admin. */
interface Hearer {
  readonly session?: object
}

const AREA_OF_EVENT: Partial<Record<SubscribableEvent, string>> = {
  'audit_log.recorded': 'Audit logs',
  'auth_logs.success': 'Auth logs',
  'auth_logs.failure': 'Auth logs',
  'enrollment_secrets.alarm': 'Enrollment secrets',
}

/** The events of which the caller may not hear. */
export function listClosedEvents({ session }: Hearer): readonly string[] {
  return Object.entries(AREA_OF_EVENT)
    .filter(([, area]) => !mayOpenArea(session, area))
    .map(([event]) => event)
}

/**
 * Refuses a caller who may not hear of one of these events.
 *
 * @throws AppError `permission_missing`
 */
export function assertMayHear(caller: Hearer, events: readonly string[]): void {
  const closed = listClosedEvents(caller).filter((event) => events.includes(event))
  if (closed.length === 0) return
  throw new AppError(
    'permission_missing',
    `Your access level does not open what ${closed.join(' and ')} tells.`,
  )
}
