import { AppError } from '../../platform/app-error.ts'
import type { RefusalCode } from '../../platform/error-codes.ts'

/** The words of RFC 7644 section 3.12, table 9, that this service uses. */
export type ScimType =
  | 'invalidFilter'
  | 'tooMany'
  | 'uniqueness'
  | 'mutability'
  | 'invalidSyntax'
  | 'invalidPath'
  | 'noTarget'
  | 'invalidValue'

/** A refusal with the status and the `scimType` that SCIM gives it; `message` is public. */
export class ScimError extends AppError {
  readonly status: number
  readonly scimType: ScimType | undefined

  constructor(status: number, scimType: ScimType | undefined, message: string) {
    const code = codeOf(status, scimType)
    super(code, message, code === 'invalid_body' ? { kind: 'malformed' } : {})
    this.name = 'ScimError'
    this.status = status
    this.scimType = scimType
  }
}

function codeOf(status: number, scimType: ScimType | undefined): RefusalCode {
  if (status === 404) return 'not_found'
  if (status === 409 || status === 412) return 'conflict'
  return scimType === 'invalidFilter' ? 'invalid_search' : 'invalid_body'
}

/** A 400 with a `scimType`. */
export function badRequest(scimType: ScimType, message: string): ScimError {
  return new ScimError(400, scimType, message)
}

/** The refusal for a resource that does not exist, or no longer. */
export function resourceNotFound(type: string, id: string): ScimError {
  return new ScimError(404, undefined, `There is no ${type} ${id}.`)
}

/** The refusal for a value that another resource has. */
export function notUnique(message: string): ScimError {
  return new ScimError(409, 'uniqueness', message)
}

/** The refusal for a resource that has changed since the client read it; RFC 7644 section 3.14. */
export function preconditionFailed(): ScimError {
  return new ScimError(412, undefined, 'The resource has another version than `If-Match` names.')
}
