/*
 * Provisioning by identity providers: SCIM 2.0 (RFC 7643, RFC 7644) under `/scim/v2`. Owns its paths, its
 * media type and how failures are told. What a person and a group are is decided in people/.
 */
import type { FastifyInstance } from 'fastify'
import { ERROR_SCHEMA } from '../../people/provisioning/scim-schema.ts'
import { notUnique, ScimError, type ScimType } from '../../people/provisioning/scim-error.ts'
import { AppError } from '../../platform/app-error.ts'
import { isUniqueViolation } from '../../platform/db/unique-violation.ts'
import type { AccessCheck, CallerOptions } from '../../platform/http/access.ts'
import {
  errorHeaders,
  statusOfError,
  type ErrorAnswer,
} from '../../platform/http/error-response.ts'
import { isMediaTypeFault } from '../../platform/http/request-error.ts'
import { registerSurface } from '../../platform/http/surface.ts'
import { discoveryEndpoints } from './discovery-endpoints.ts'
import { groupResources } from './group-resources.ts'
import { resourceEndpoints } from './resource-endpoints.ts'
import { searchEndpoint } from './search-endpoint.ts'
import { userResources, type UserDependencies } from './user-resources.ts'

export interface ScimDependencies extends Omit<UserDependencies, 'scimUrl'> {
  /** What the world calls the service, without a slash at the end. */
  readonly baseUrl: string
  readonly callers: CallerOptions
  /** Refuses a caller who lacks the permission of an operation. */
  readonly checkPermission: AccessCheck
}

const SCIM_PREFIX = '/scim/v2'
const MEDIA_TYPE = 'application/scim+json; charset=utf-8'

/** Registers the SCIM surface. Its requests need an API key; those on people "Manage People". */
export function registerScim(app: FastifyInstance, deps: ScimDependencies): void {
  const scimUrl = `${deps.baseUrl}${SCIM_PREFIX}`
  const users = userResources({ ...deps, scimUrl })
  const groups = groupResources({ scimUrl })
  registerSurface(app, {
    prefix: SCIM_PREFIX,
    operations: [
      ...discoveryEndpoints(scimUrl),
      searchEndpoint({ db: deps.db, users, groups }),
      ...resourceEndpoints({ ...deps, scimUrl }, users),
      ...resourceEndpoints({ ...deps, scimUrl }, groups),
    ],
    callers: deps.callers,
    checks: [deps.checkPermission],
    errors: { toRefusal, toAnswer, mediaType: MEDIA_TYPE },
    mediaType: MEDIA_TYPE,
    unanswered: {
      toMethodRefusal: (_method, allowed) =>
        new ScimError(405, undefined, `This path answers ${allowed.join(', ')}.`),
      toPathRefusal: () => new ScimError(404, undefined, 'There is no SCIM resource at this path.'),
    },
  })
}

/** Two clients at once: the checks before the write saw neither of them. */
function toRefusal(thrown: unknown): AppError | undefined {
  if (isMediaTypeFault(thrown)) return unreadMediaType()
  return isUniqueViolation(thrown)
    ? notUnique('Another resource has just taken a value.')
    : undefined
}

/** RFC 7644 section 3.1: the first is to be sent, the second may be. */
function unreadMediaType(): AppError {
  const message =
    'The request body must be JSON, sent with `Content-Type: application/scim+json` or `application/json`.'
  return new AppError('unsupported_media_type', message)
}

/** RFC 7644 section 3.12. */
function toAnswer(refusal: AppError | undefined, requestId: string): ErrorAnswer {
  const status = refusal === undefined ? 500 : statusOf(refusal)
  const scimType = refusal === undefined ? undefined : scimTypeOf(refusal)
  return {
    status,
    headers: refusal === undefined ? {} : errorHeaders(refusal, status),
    body: {
      schemas: [ERROR_SCHEMA],
      status: String(status),
      ...(scimType === undefined ? {} : { scimType }),
      detail: refusal?.message ?? `An unexpected fault occurred; the request id is ${requestId}.`,
    },
  }
}

function statusOf(error: AppError): number {
  if (error instanceof ScimError) return error.status
  return error.kind === 'invalid' ? 400 : statusOfError(error)
}

function scimTypeOf(error: AppError): ScimType | undefined {
  if (error instanceof ScimError) return error.scimType
  if (error.kind === 'invalid') return 'invalidValue'
  return error.code === 'malformed_json' ? 'invalidSyntax' : undefined
}
