import type { Foundation, ServicePart } from '../changes/foundation.ts'
import { dueJob } from '../schema/jobs.ts'
import { abandonSessions } from './journal/abandon-sessions.ts'
import { authLogRoutes } from './journal/auth-log-routes.ts'
import { SIGN_IN_CHANNEL } from './journal/session-store.ts'
import { signInRetention } from './journal/sign-in-retention-store.ts'
import { signInRoutes } from './journal/sign-in-routes.ts'
import { deviceTimelineRoutes } from './timeline/device-timeline-routes.ts'

export interface SignInSettings {
  readonly baseUrl: string
  readonly signInTimeoutSeconds: number
  readonly signInRetentionDays: number
}

/** Sign-ins: how they are recorded and read, and their end when nobody finishes them. */
export function createSignInPart(
  { db, runChange }: Pick<Foundation, 'db' | 'runChange'>,
  { baseUrl, signInTimeoutSeconds, signInRetentionDays }: SignInSettings,
): ServicePart {
  return {
    name: 'sign-in',
    roles: ['api'],
    operations: [
      ...authLogRoutes(db, baseUrl),
      ...deviceTimelineRoutes(db, baseUrl),
      ...signInRoutes({ baseUrl, runChange, signInTimeoutSeconds }),
    ],
    jobs: [
      dueJob('sign-in expiry', () => abandonSessions({ db, runChange }), {
        channel: SIGN_IN_CHANNEL,
      }),
    ],
    retention: [signInRetention(signInRetentionDays)],
  }
}
