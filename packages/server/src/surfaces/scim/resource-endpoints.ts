import {
  operation,
  type Answer,
  type Method,
  type Operation,
  type OperationRequest,
} from '../../platform/http/operation.ts'
import type { Permission } from '../../schema/permissions.ts'
import { readQuery, readSearchBody, type ScimQuery } from './scim-request.ts'
import type { ScimResourceType } from '../../people/provisioning/scim-schema.ts'

/** What can be done with the resources of one type; RFC 7644 section 3. */
export interface ResourceOperations {
  list(query: ScimQuery): Promise<Answer>
  create(request: OperationRequest): Promise<Answer>
  show(request: OperationRequest): Promise<Answer>
  replace(request: OperationRequest): Promise<Answer>
  patch(request: OperationRequest): Promise<Answer>
  remove(request: OperationRequest): Promise<Answer>
}

/** The endpoints of a type, searches by POST included (RFC 7644 section 3.4.3). */
export function resourceEndpoints(
  type: ScimResourceType,
  operations: ResourceOperations,
): Operation[] {
  const { name } = type
  const path = type.endpoint
  const one = `${path}/:id`
  const declare = (
    method: Method,
    at: string,
    summary: string,
    handler: (request: OperationRequest) => Promise<Answer>,
  ) =>
    operation({
      method,
      path: at,
      access: { permission: 'Manage People' satisfies Permission },
      summary,
      responses: {},
      handler,
    })
  return [
    declare('GET', path, `List ${name} resources`, async ({ query }) =>
      operations.list(readQuery(type, query)),
    ),
    declare('POST', `${path}/.search`, `Search ${name} resources`, async ({ body }) =>
      operations.list(readSearchBody(type, body)),
    ),
    declare('POST', path, `Create a ${name}`, (request) => operations.create(request)),
    declare('GET', one, `Show a ${name}`, (request) => operations.show(request)),
    declare('PUT', one, `Replace a ${name}`, (request) => operations.replace(request)),
    declare('PATCH', one, `Change a ${name}`, (request) => operations.patch(request)),
    declare('DELETE', one, `Delete a ${name}`, (request) => operations.remove(request)),
  ]
}
