import {
  invalidBody,
  toSentence,
  type AppError,
  type ErrorDetail,
} from '../../platform/app-error.ts'

/** The refusal of a body for what its parser found, which makes no sentence yet; see `invalidBody`. */
export function refusalOfIssues(issues: readonly ErrorDetail[], namedMax?: number): AppError {
  const details = issues.map(({ path, message }) => ({
    path,
    message: toSentence(message),
  }))
  return invalidBody(details, namedMax)
}

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
