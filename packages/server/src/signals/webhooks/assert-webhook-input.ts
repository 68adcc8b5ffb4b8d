import { AppError, invalidBody, type ErrorDetail } from '../../platform/app-error.ts'
import { checkTargetUrl, type TargetPolicy } from '../../platform/net/target-policy.ts'
import { listHeaderRefusals, type CustomHeaders } from './webhook-headers.ts'
import type { SigningForm } from './webhook-secret.ts'

/**
 * Checks the URL that events are to be posted to, and answers it in its normal form.
 *
 * @throws AppError `target_refused` naming why
 */
export function assertWebhookUrl(url: string, policy: TargetPolicy): string {
  const check = checkTargetUrl(url, policy)
  if (check.ok) return check.url.href
  const message = `Events cannot be posted to this URL: ${check.reason}.`
  throw new AppError('target_refused', message, {
    details: [{ path: 'url', message: `${check.reason}.` }],
  })
}

/**
 * Checks headers of the receiver's own.
 *
 * @throws AppError `invalid_body` naming each header that cannot be sent
 */
export function assertWebhookHeaders(headers: CustomHeaders, form: SigningForm): void {
  const details: ErrorDetail[] = listHeaderRefusals(headers, form).map(({ name, message }) => ({
    path: name === '' ? 'headers' : `headers.${name}`,
    message,
  }))
  if (details.length > 0) throw invalidBody(details)
}
