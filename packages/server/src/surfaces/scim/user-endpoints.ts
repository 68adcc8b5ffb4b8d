import type { Answer, Operation, OperationRequest } from '../../platform/http/operation.ts'
import { toOrigin } from '../../changes/to-origin.ts'
import type { Kysely } from 'kysely'
import type { RunChange } from '../../changes/change.ts'
import type { DeprovisionDependencies } from '../../people/people/deprovision-person.ts'
import type { Person } from '../../people/people/person-store.ts'
import type { Schema } from '../../schema/schema.ts'
import { applyEdits } from '../../people/provisioning/apply-edits.ts'
import { readPatch } from '../../people/provisioning/patch-edits.ts'
import { project } from '../../people/provisioning/projection.ts'
import {
  createUser,
  deleteUser,
  updateUser,
  type UserUpdate,
} from '../../people/provisioning/provision-user.ts'
import {
  readAttributes,
  readBody,
  type ScimAttributes,
} from '../../people/provisioning/read-resource.ts'
import { resourceEndpoints } from './resource-endpoints.ts'
import { toResourceAnswer, toResourceId, toResourceList } from './resource-answer.ts'
import { readShown, requireVersion, type ScimQuery } from './scim-request.ts'
import { toCondition } from '../../people/provisioning/scim-condition-read.ts'
import { resourceNotFound } from '../../people/provisioning/scim-error.ts'
import { USER_SCHEMA, USER_TYPE } from '../../people/provisioning/scim-schema.ts'
import {
  findUser,
  listGroupsOfUsers,
  listUsers,
  USER_COLUMNS,
} from '../../people/provisioning/scim-user-store.ts'
import { toUserAttributes, toUserJson } from '../../people/provisioning/scim-user.ts'

export interface ProvisioningDependencies {
  readonly db: Kysely<Schema>
  readonly runChange: RunChange
  readonly deprovisioning: DeprovisionDependencies
  /** The address of the SCIM surface, without a slash at the end. */
  readonly scimUrl: string
}

/** The operations on users; RFC 7644 section 3. */
export function userEndpoints(deps: ProvisioningDependencies): Operation[] {
  return resourceEndpoints(USER_TYPE, {
    list: (query) => list(deps, query),
    create: (request) => create(deps, request),
    show: (request) => show(deps, request),
    replace: async (request) => {
      const given = readUser(request.body)
      // A request that does not say keeps a person switched off or on.
      return update(deps, request, ({ deprovisioned_at: deprovisionedAt }) => ({
        active: deprovisionedAt === null,
        ...given,
      }))
    },
    patch: async (request) => {
      const edits = readPatch(USER_TYPE, request.body)
      const isAboutEmails = edits.some(({ attribute }) => attribute.name === 'emails')
      return update(deps, request, (person) =>
        applyEdits(toUserAttributes(person, isAboutEmails), edits),
      )
    },
    remove: (request) => remove(deps, request),
  })
}

async function list(
  { db, scimUrl }: ProvisioningDependencies,
  { filter, window, projection }: ScimQuery,
): Promise<Answer> {
  const condition = toCondition(USER_TYPE, filter, USER_COLUMNS)
  const { total, users } = await listUsers(db, condition, window)
  const groups = await listGroupsOfUsers(
    db,
    users.map(({ id }) => id),
  )
  const resources = users.map((user) =>
    project(toUserJson(scimUrl, user, groups.get(user.id) ?? []), projection),
  )
  return toResourceList(resources, total, window)
}

async function create(deps: ProvisioningDependencies, request: OperationRequest): Promise<Answer> {
  const projection = readShown(USER_TYPE, request.query)
  const attributes = readUser(request.body)
  const resource = await deps.runChange(toOrigin(request), async (change) => {
    const user = await createUser(change, deps.deprovisioning, attributes)
    return read(deps, change.tx, user)
  })
  return toResourceAnswer(201, resource, projection)
}

async function show(deps: ProvisioningDependencies, request: OperationRequest): Promise<Answer> {
  const projection = readShown(USER_TYPE, request.query)
  const id = toResourceId('user', request)
  const user = await findUser(deps.db, id)
  if (user === undefined) throw resourceNotFound('user', id)
  return toResourceAnswer(200, await read(deps, deps.db, user), projection, request.headers)
}

async function update(
  deps: ProvisioningDependencies,
  request: OperationRequest,
  next: UserUpdate['next'],
): Promise<Answer> {
  const projection = readShown(USER_TYPE, request.query)
  const id = toResourceId('user', request)
  const resource = await deps.runChange(toOrigin(request), async (change) => {
    const check = checkVersion(deps, request, change.tx)
    const user = await updateUser(change, deps.deprovisioning, id, { check, next })
    return read(deps, change.tx, user)
  })
  return toResourceAnswer(200, resource, projection)
}

async function remove(deps: ProvisioningDependencies, request: OperationRequest): Promise<Answer> {
  const id = toResourceId('user', request)
  await deps.runChange(toOrigin(request), (change) =>
    deleteUser(change, deps.deprovisioning, id, checkVersion(deps, request, change.tx)),
  )
  return { status: 204 }
}

function checkVersion(
  deps: ProvisioningDependencies,
  request: OperationRequest,
  db: Kysely<Schema>,
): (person: Person) => Promise<void> {
  return async (person) => {
    if (request.headers['if-match'] === undefined) return
    const { meta } = await read(deps, db, person)
    requireVersion(request.headers, (meta as { version: string }).version)
  }
}

async function read(
  { scimUrl }: ProvisioningDependencies,
  db: Kysely<Schema>,
  user: Person,
): Promise<ScimAttributes> {
  const groups = await listGroupsOfUsers(db, [user.id])
  return toUserJson(scimUrl, user, groups.get(user.id) ?? [])
}

function readUser(body: unknown): ScimAttributes {
  return readAttributes(USER_TYPE.attributes, readBody(body, USER_SCHEMA))
}
