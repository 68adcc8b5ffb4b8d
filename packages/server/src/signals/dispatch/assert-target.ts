import { AppError } from '../../platform/app-error.ts'
import { checkTargetUrl, type TargetPolicy } from '../../platform/net/target-policy.ts'

/**
 * Checks a URL that events are to be delivered to, and answers it in its normal form. `path` is where it
 * stands in the body.
 *
 * @throws AppError `target_refused` naming why
 */
export function assertTarget(
  url: string,
  policy: TargetPolicy,
  path: string,
  verb: 'posted' | 'pushed',
): string {
  const check = checkTargetUrl(url, policy)
  if (check.ok) return check.url.href
  const message = `Events cannot be ${verb} to this URL: ${check.reason}.`
  throw new AppError('target_refused', message, {
    details: [{ path, message: `${check.reason}.` }],
  })
}
