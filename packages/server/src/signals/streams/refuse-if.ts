import { AppError, type ErrorDetail } from '../../platform/app-error.ts'

/** Throws `invalid_body` when there is anything to say. */
export function refuseIf(details: readonly ErrorDetail[]): void {
  if (details.length === 0) return
  const summary = details.map(({ path, message }) => `${path}: ${message}`).join(' ')
  throw new AppError('invalid', 'invalid_body', `The body is not valid. ${summary}`, { details })
}
