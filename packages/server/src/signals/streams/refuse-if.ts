import { invalidBody, type ErrorDetail } from '../../platform/app-error.ts'

/**
 * Refuses a body for what is wrong with it; problems that do not apply are `false`.
 *
 * @throws AppError `invalid_body` when anything is wrong.
 */
export function refuseIf(problems: readonly (ErrorDetail | false)[]): void {
  const details = problems.filter((problem) => problem !== false)
  if (details.length > 0) throw invalidBody(details)
}

/** Something required that a body does not name. */
export function missingText(path: string): ErrorDetail {
  return { path, message: 'This is required: a string.' }
}
