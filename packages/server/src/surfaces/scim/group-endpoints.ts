import type { Answer, Operation, OperationRequest } from '../../platform/http/operation.ts'
import { toOrigin } from '../../changes/to-origin.ts'
import type { Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { readPatch } from '../../people/provisioning/patch-edits.ts'
import { isShown, project, type Projection } from '../../people/provisioning/projection.ts'
import {
  createGroup,
  deleteGroup,
  patchGroup,
  replaceGroup,
} from '../../people/provisioning/provision-group.ts'
import {
  readAttributes,
  readBody,
  type ScimAttributes,
} from '../../people/provisioning/read-resource.ts'
import { toResourceAnswer, toResourceId, toResourceList } from './resource-answer.ts'
import { resourceEndpoints } from './resource-endpoints.ts'
import { toCondition } from '../../people/provisioning/scim-condition-read.ts'
import { resourceNotFound } from '../../people/provisioning/scim-error.ts'
import {
  findGroup,
  GROUP_COLUMNS,
  listGroups,
  listMembersOfGroups,
} from '../../people/provisioning/scim-group-store.ts'
import {
  groupVersion,
  toGroupJson,
  type PersonGroup,
} from '../../people/provisioning/scim-group.ts'
import { readShown, requireVersion, type ScimQuery } from './scim-request.ts'
import { GROUP_SCHEMA, GROUP_TYPE } from '../../people/provisioning/scim-schema.ts'
import type { ProvisioningDependencies } from './user-endpoints.ts'

type Dependencies = Omit<ProvisioningDependencies, 'deprovisioning'>

/** The operations on groups; RFC 7644 section 3. */
export function groupEndpoints(deps: Dependencies): Operation[] {
  return resourceEndpoints(GROUP_TYPE, {
    list: (query) => list(deps, query),
    create: (request) => create(deps, request),
    show: (request) => show(deps, request),
    replace: (request) => replace(deps, request),
    patch: (request) => patch(deps, request),
    remove: (request) => remove(deps, request),
  })
}

async function list(
  { db, scimUrl }: Dependencies,
  { filter, window, projection }: ScimQuery,
): Promise<Answer> {
  const condition = toCondition(GROUP_TYPE, filter, GROUP_COLUMNS)
  const { total, groups } = await listGroups(db, condition, window)
  const members = isShown(projection, 'members')
    ? await listMembersOfGroups(
        db,
        groups.map(({ id }) => id),
      )
    : undefined
  const resources = groups.map((group) => {
    const ofGroup = members === undefined ? undefined : (members.get(group.id) ?? [])
    return project(toGroupJson(scimUrl, group, ofGroup), projection)
  })
  return toResourceList(resources, total, window)
}

async function create(deps: Dependencies, request: OperationRequest): Promise<Answer> {
  const projection = readShown(GROUP_TYPE, request.query)
  const attributes = readGroup(request.body)
  const resource = await deps.runChange(toOrigin(request), async (change) =>
    read(deps, change.tx, await createGroup(change, attributes), projection),
  )
  return toResourceAnswer(201, resource, projection)
}

async function show(deps: Dependencies, request: OperationRequest): Promise<Answer> {
  const projection = readShown(GROUP_TYPE, request.query)
  const id = toResourceId('group', request)
  const group = await findGroup(deps.db, id)
  if (group === undefined) throw resourceNotFound('group', id)
  const resource = await read(deps, deps.db, group, projection)
  return toResourceAnswer(200, resource, projection, request.headers)
}

async function replace(deps: Dependencies, request: OperationRequest): Promise<Answer> {
  const projection = readShown(GROUP_TYPE, request.query)
  const id = toResourceId('group', request)
  const attributes = readGroup(request.body)
  const resource = await deps.runChange(toOrigin(request), async (change) => {
    const group = await replaceGroup(change, id, attributes, checkVersion(request))
    return read(deps, change.tx, group, projection)
  })
  return toResourceAnswer(200, resource, projection)
}

/** Without a body, as clients of large groups want it, unless they ask for attributes. */
async function patch(deps: Dependencies, request: OperationRequest): Promise<Answer> {
  const projection = readShown(GROUP_TYPE, request.query)
  const id = toResourceId('group', request)
  const edits = readPatch(GROUP_TYPE, request.body)
  const isShownInAnswer = projection.only !== undefined
  const [group, resource] = await deps.runChange(toOrigin(request), async (change) => {
    const saved = await patchGroup(change, id, edits, checkVersion(request))
    const shown = isShownInAnswer ? await read(deps, change.tx, saved, projection) : undefined
    return [saved, shown] as const
  })
  return resource === undefined
    ? { status: 204, headers: { etag: groupVersion(group) } }
    : toResourceAnswer(200, resource, projection)
}

async function remove(deps: Dependencies, request: OperationRequest): Promise<Answer> {
  const id = toResourceId('group', request)
  await deps.runChange(toOrigin(request), (change) =>
    deleteGroup(change, id, checkVersion(request)),
  )
  return { status: 204 }
}

function checkVersion(request: OperationRequest): (group: PersonGroup) => void {
  return (group) => requireVersion(request.headers, groupVersion(group))
}

async function read(
  { scimUrl }: Dependencies,
  db: Kysely<Schema>,
  group: PersonGroup,
  projection: Projection,
): Promise<ScimAttributes> {
  if (!isShown(projection, 'members')) return toGroupJson(scimUrl, group, undefined)
  const members = await listMembersOfGroups(db, [group.id])
  return toGroupJson(scimUrl, group, members.get(group.id) ?? [])
}

function readGroup(body: unknown): ScimAttributes {
  return readAttributes(GROUP_TYPE.attributes, readBody(body, GROUP_SCHEMA))
}
