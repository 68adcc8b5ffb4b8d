import type { Listener } from '../../platform/db/listener.ts'
import type { ApiRoute } from '../../platform/http/route.ts'
import { startDueJob, type DueJob } from '../../platform/jobs/due-job.ts'
import type { Services } from '../services.ts'
import { abandonSessions } from '../../sign-in/journal/abandon-sessions.ts'
import { authLogRoutes } from '../../sign-in/journal/auth-log-routes.ts'
import { SIGN_IN_CHANNEL } from '../../sign-in/journal/session-store.ts'
import { signInRoutes } from '../../sign-in/journal/sign-in-routes.ts'

/** The routes by which sign-ins are read and recorded. */
export function composeSignInRoutes(
  services: Pick<Services, 'config' | 'db' | 'runChange'>,
): ApiRoute[] {
  const { config, db, runChange } = services
  const { baseUrl, signInTimeoutSeconds } = config
  return [
    ...authLogRoutes(db, baseUrl),
    ...signInRoutes({ baseUrl, runChange, signInTimeoutSeconds }),
  ]
}

/** Ends sign-ins that nobody finishes when their time is over, which any process may have set. */
export function startSignInExpiry(services: Services, listener: Listener): DueJob {
  const { clock, db, log, runChange } = services
  const job = startDueJob({
    name: 'sign-in expiry',
    clock,
    run: () => abandonSessions({ db, runChange }),
    logError: (error, message) => log.error({ err: error }, message),
  })
  listener.subscribe(SIGN_IN_CHANNEL, (payload) => job.wake(new Date(payload)))
  return job
}
