import { AppError } from '../../platform/app-error.ts'
import { checkTargetUrl, type TargetPolicy } from '../../platform/net/target-policy.ts'

/**
 * Checks the URL that a push stream is to deliver to.
 *
 * @throws AppError `target_refused` naming why.
 */
export function assertPushEndpoint(url: string, policy: TargetPolicy, path: string): void {
  const check = checkTargetUrl(url, policy)
  if (check.ok) return
  const message = `Events cannot be pushed to this URL: ${check.reason}.`
  throw new AppError('target_refused', message, {
    details: [{ path, message: `${check.reason}.` }],
  })
}
