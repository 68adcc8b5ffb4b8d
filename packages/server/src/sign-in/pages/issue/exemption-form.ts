import { AppError } from '../../../platform/app-error.ts'
import type { FormBody } from '../kit/form-body.ts'

const REASON_LENGTH_MAX = 2_000

/** What a person writes about a request; an admin decides by it. @throws AppError `invalid_body` */
export function readReason(form: FormBody): string {
  const reason = (form.get('reason') ?? '').trim()
  if (reason !== '' && reason.length <= REASON_LENGTH_MAX) return reason
  throw new AppError('invalid_body', `Say why, in at most ${REASON_LENGTH_MAX} characters.`)
}
