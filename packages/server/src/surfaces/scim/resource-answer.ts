import type { Answer, OperationRequest } from '../../platform/http/operation.ts'
import type { IncomingHttpHeaders } from 'node:http'
import { project, type Projection } from '../../people/provisioning/projection.ts'
import type { ScimAttributes } from '../../people/provisioning/read-resource.ts'
import { resourceNotFound } from '../../people/provisioning/scim-error.ts'
import { hasVersion } from './scim-request.ts'
import { LIST_RESPONSE_SCHEMA } from '../../people/provisioning/scim-schema.ts'
import type { ScimWindow } from '../../people/provisioning/scim-user-store.ts'

const ID_PATTERN = /^[1-9]\d{0,17}$/

/**
 * The id in the path of a request, ready for the database.
 *
 * @throws ScimError 404 for a text that is the id of nothing
 */
export function toResourceId(what: string, { params }: OperationRequest): string {
  const id = params['id'] ?? ''
  if (ID_PATTERN.test(id)) return id
  throw resourceNotFound(what, id.slice(0, 100))
}

/**
 * The answer that shows a resource, with its entity tag and, for a new one, its address. With the headers
 * of a GET it is 304 when the client has this version.
 */
export function toResourceAnswer(
  status: 200 | 201,
  resource: ScimAttributes,
  projection: Projection,
  readHeaders?: IncomingHttpHeaders,
): Answer {
  const { location, version } = resource['meta'] as { location: string; version: string }
  const headers = { etag: version, ...(status === 201 ? { location } : {}) }
  if (readHeaders !== undefined && hasVersion(readHeaders, version)) return { status: 304, headers }
  return { status, headers, body: project(resource, projection) }
}

/** The answer that shows a part of a list; RFC 7644 section 3.4.2. */
export function toResourceList(
  resources: readonly ScimAttributes[],
  total: number,
  { startIndex }: ScimWindow,
): Answer {
  return {
    status: 200,
    body: {
      schemas: [LIST_RESPONSE_SCHEMA],
      totalResults: total,
      startIndex,
      itemsPerPage: resources.length,
      Resources: resources,
    },
  }
}
