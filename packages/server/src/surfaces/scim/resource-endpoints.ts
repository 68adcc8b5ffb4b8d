import { sql, type Expression, type SqlBool } from 'kysely'
import { bindFilter } from '../../people/provisioning/bind-filter.ts'
import { filterToSql, type ScimColumns } from '../../people/provisioning/filter-to-sql.ts'
import { parseScimFilter } from '../../people/provisioning/scim-filter.ts'
import {
  readQuery,
  readSearchBody,
  type ScimAnswer,
  type ScimEndpoint,
  type ScimQuery,
  type ScimRequest,
} from './scim-request.ts'
import type { ScimResourceType } from '../../people/provisioning/scim-schema.ts'

/** What can be done with the resources of one type; RFC 7644 section 3. */
export interface ResourceOperations {
  list(query: ScimQuery): Promise<ScimAnswer>
  create(request: ScimRequest): Promise<ScimAnswer>
  show(request: ScimRequest): Promise<ScimAnswer>
  replace(request: ScimRequest): Promise<ScimAnswer>
  patch(request: ScimRequest): Promise<ScimAnswer>
  remove(request: ScimRequest): Promise<ScimAnswer>
}

/** The endpoints of a type, searches by POST included (RFC 7644 section 3.4.3). */
export function resourceEndpoints(
  type: ScimResourceType,
  operations: ResourceOperations,
): ScimEndpoint[] {
  const permission = 'Manage People'
  const path = type.endpoint
  const one = `${path}/:id`
  return [
    {
      method: 'GET',
      path,
      permission,
      handler: async ({ query }) => operations.list(readQuery(type, query)),
    },
    {
      method: 'POST',
      path: `${path}/.search`,
      permission,
      handler: async ({ body }) => operations.list(readSearchBody(type, body)),
    },
    { method: 'POST', path, permission, handler: (request) => operations.create(request) },
    { method: 'GET', path: one, permission, handler: (request) => operations.show(request) },
    { method: 'PUT', path: one, permission, handler: (request) => operations.replace(request) },
    { method: 'PATCH', path: one, permission, handler: (request) => operations.patch(request) },
    { method: 'DELETE', path: one, permission, handler: (request) => operations.remove(request) },
  ]
}

/**
 * The condition that a filter means for resources of a type; without a filter it is always true.
 *
 * @throws ScimError `invalidFilter`
 */
export function toCondition(
  { attributes, schema }: ScimResourceType,
  filter: string | undefined,
  columns: ScimColumns,
): Expression<SqlBool> {
  if (filter === undefined) return sql<SqlBool>`true`
  return filterToSql(bindFilter(parseScimFilter(filter), { attributes, schema }), columns)
}
