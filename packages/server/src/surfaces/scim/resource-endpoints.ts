/*
 * The endpoints of one type of SCIM resource; RFC 7644 section 3. Owns the requests, the changes and the
 * answers; how a resource is read and changed, its type says (user-resources.ts, group-resources.ts).
 */
import type { Expression, Kysely, SqlBool } from 'kysely'
import type { Change } from '../../changes/change.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { toOrigin } from '../../changes/to-origin.ts'
import { readPatch, type PatchEdit } from '../../people/provisioning/patch-edits.ts'
import { project, type Projection } from '../../people/provisioning/projection.ts'
import {
  readAttributes,
  readBody,
  type ScimAttributes,
} from '../../people/provisioning/read-resource.ts'
import { toCondition, type ScimColumns } from '../../people/provisioning/scim-condition-read.ts'
import { resourceNotFound } from '../../people/provisioning/scim-error.ts'
import type { ScimResourceType } from '../../people/provisioning/scim-schema.ts'
import type { ScimWindow } from '../../people/provisioning/scim-user-store.ts'
import {
  operation,
  type Answer,
  type Method,
  type Operation,
  type OperationRequest,
} from '../../platform/http/operation.ts'
import type { Permission } from '../../schema/permissions.ts'
import type { Schema } from '../../schema/schema.ts'
import { toResourceAnswer, toResourceId, toResourceList } from './resource-answer.ts'
import {
  readQuery,
  readSearchBody,
  readShown,
  requireVersion,
  type ScimQuery,
} from './scim-request.ts'

/** Sees a resource before it is changed, locked, and may refuse. */
type Check<Row> = (row: Row) => Promise<void>

/** How the resources of one type are read and changed. */
export interface ScimResources<Row> {
  readonly type: ScimResourceType
  readonly columns: ScimColumns
  list(
    db: Kysely<Schema>,
    condition: Expression<SqlBool>,
    window: ScimWindow,
  ): Promise<{ readonly total: number; readonly rows: readonly Row[] }>
  find(db: Kysely<Schema>, id: string): Promise<Row | undefined>
  /** The wire forms in the order of the rows; what the projection hides need not be there. */
  toJson(
    db: Kysely<Schema>,
    rows: readonly Row[],
    projection: Projection,
  ): Promise<ScimAttributes[]>
  versionOf(db: Kysely<Schema>, row: Row): Promise<string>
  create(change: Change, attributes: ScimAttributes): Promise<Row>
  replace(change: Change, id: string, attributes: ScimAttributes, check: Check<Row>): Promise<Row>
  patch(change: Change, id: string, edits: readonly PatchEdit[], check: Check<Row>): Promise<Row>
  remove(change: Change, id: string, check: Check<Row>): Promise<void>
  /** Whether PATCH answers the resource also to a client that asks for no attributes. */
  readonly isShownAfterPatch: boolean
}

export interface ProvisioningDependencies extends Pick<Foundation, 'db' | 'runChange'> {
  /** The address of the SCIM surface, without a slash at the end. */
  readonly scimUrl: string
}

/** The endpoints of a type, searches by POST included (RFC 7644 section 3.4.3). */
export function resourceEndpoints<Row>(
  { db, runChange }: ProvisioningDependencies,
  resources: ScimResources<Row>,
): Operation[] {
  const { type } = resources
  const { name, endpoint } = type
  const list = async (query: ScimQuery): Promise<Answer> => {
    const { total, shown } = await findResources(db, resources, query)
    return toResourceList(shown, total, query.window)
  }
  const one = `${endpoint}/:id`
  const idOf = (request: OperationRequest) => toResourceId(name.toLowerCase(), request)
  const attributesOf = ({ body }: OperationRequest) =>
    readAttributes(type.attributes, readBody(body, type.schema))
  const change: RunResourceChange<Row> = (request, write) =>
    runChange(toOrigin(request), (open) => write(open, checkVersion(resources, request, open.tx)))
  const changeAndShow = async (
    request: OperationRequest,
    write: (open: Change, check: Check<Row>) => Promise<Row>,
    status: 200 | 201 = 200,
  ): Promise<Answer> => {
    const projection = readShown(type, request.query)
    const resource = await change(request, async (open, check) =>
      toJson(resources, open.tx, await write(open, check), projection),
    )
    return toResourceAnswer(status, resource, projection)
  }
  return [
    declare('GET', endpoint, `List ${name} resources`, async ({ query }) =>
      list(readQuery(type, query)),
    ),
    declare('POST', `${endpoint}/.search`, `Search ${name} resources`, async ({ body }) =>
      list(readSearchBody(type, body)),
    ),
    declare('POST', endpoint, `Create a ${name}`, async (request) => {
      const attributes = attributesOf(request)
      return changeAndShow(request, (open) => resources.create(open, attributes), 201)
    }),
    declare('GET', one, `Show a ${name}`, async (request) => {
      const projection = readShown(type, request.query)
      const id = idOf(request)
      const row = await resources.find(db, id)
      if (row === undefined) throw resourceNotFound(name.toLowerCase(), id)
      const resource = await toJson(resources, db, row, projection)
      return toResourceAnswer(200, resource, projection, request.headers)
    }),
    declare('PUT', one, `Replace a ${name}`, async (request) => {
      const id = idOf(request)
      const attributes = attributesOf(request)
      return changeAndShow(request, (open, check) => resources.replace(open, id, attributes, check))
    }),
    declare('PATCH', one, `Change a ${name}`, async (request) => {
      const id = idOf(request)
      const edits = readPatch(type, request.body)
      const isAskedFor = readShown(type, request.query).only !== undefined
      if (resources.isShownAfterPatch || isAskedFor) {
        return changeAndShow(request, (open, check) => resources.patch(open, id, edits, check))
      }
      const etag = await change(request, async (open, check) =>
        resources.versionOf(open.tx, await resources.patch(open, id, edits, check)),
      )
      return { status: 204, headers: { etag } }
    }),
    declare('DELETE', one, `Delete a ${name}`, async (request) => {
      const id = idOf(request)
      await change(request, (open, check) => resources.remove(open, id, check))
      return { status: 204 }
    }),
  ]
}

type RunResourceChange<Row> = <Result>(
  request: OperationRequest,
  write: (open: Change, check: Check<Row>) => Promise<Result>,
) => Promise<Result>

/** Declares an operation on provisioned resources. */
export function declare(
  method: Method,
  path: string,
  summary: string,
  handler: (request: OperationRequest) => Promise<Answer>,
): Operation {
  return operation({
    method,
    path,
    access: { permission: 'Manage People' satisfies Permission },
    summary,
    responses: {},
    handler,
  })
}

/** The resources of one type that a query asks for. `others` are the types that it is about besides. */
export async function findResources<Row>(
  db: Kysely<Schema>,
  resources: ScimResources<Row>,
  { filter, window, projection }: ScimQuery,
  others: readonly ScimResourceType[] = [],
): Promise<{ readonly total: number; readonly shown: readonly ScimAttributes[] }> {
  const condition = toCondition(resources.type, filter, resources.columns, others)
  const { total, rows } = await resources.list(db, condition, window)
  const shown = await resources.toJson(db, rows, projection)
  return { total, shown: shown.map((resource) => project(resource, projection)) }
}

async function toJson<Row>(
  resources: ScimResources<Row>,
  db: Kysely<Schema>,
  row: Row,
  projection: Projection,
): Promise<ScimAttributes> {
  const [resource] = await resources.toJson(db, [row], projection)
  if (resource === undefined) throw new Error('a resource without a wire form')
  return resource
}

function checkVersion<Row>(
  resources: ScimResources<Row>,
  { headers }: OperationRequest,
  db: Kysely<Schema>,
): Check<Row> {
  return async (row) => {
    if (headers['if-match'] === undefined) return
    requireVersion(headers, await resources.versionOf(db, row))
  }
}
