import { BASE_URL, type TestAnswer } from './api-app.ts'
import { createServiceApi, type ServiceApi } from './composed-api.ts'

export const SCIM_URL = `${BASE_URL}/scim/v2`
export const USER_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:User'
export const GROUP_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Group'
export const PATCH_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'

export interface ScimTestRequest {
  readonly key?: string | null
  readonly headers?: Readonly<Record<string, string>>
}

export interface TestUser {
  readonly id: string
  readonly userName: string
  readonly active: boolean
  readonly displayName: string
  readonly emails: readonly { readonly value: string }[]
  readonly groups: readonly { readonly value: string }[]
  readonly meta: { readonly version: string; readonly location: string }
}

export interface TestGroup {
  readonly id: string
  readonly displayName: string
  readonly members: readonly { readonly value: string }[]
  readonly meta: { readonly version: string }
}

export interface TestList<Resource> {
  readonly totalResults: number
  readonly startIndex: number
  readonly itemsPerPage: number
  readonly Resources: readonly Resource[]
}

/** The SCIM surface beside the REST API of people, on a database of its own. */
export interface ScimApi extends ServiceApi {
  /** Holds "Manage People"; sent unless a request names another. */
  readonly scimKey: string
  /** Sends a request below `/scim/v2` with the media type of SCIM. */
  scim<Body>(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    payload?: object | string,
    request?: ScimTestRequest,
  ): Promise<TestAnswer<Body>>
  /** Makes a user with this user name, which is an email address. */
  createUser(userName: string, attributes?: object): Promise<TestUser>
  createGroup(displayName: string, memberIds?: readonly string[]): Promise<TestGroup>
  /** The actions of the audit log about a record, oldest first, each with what it changed. */
  auditOf(targetType: AuditedType, targetId: string): Promise<AuditedChange[]>
}

export type AuditedType = 'person' | 'person_group' | 'device' | 'enrollment_secret'

export interface AuditedChange {
  readonly action: string
  readonly actor_name: string
  readonly before: unknown
  readonly after: unknown
  readonly txn: string
}

export interface ScimApiOptions {
  readonly requestsPerMinute?: number
}

/** Close it in `afterAll`. */
export async function createScimApi(options: ScimApiOptions = {}): Promise<ScimApi> {
  const { requestsPerMinute = 100_000 } = options
  const api = await createServiceApi({
    HELIOGRAPH_RATE_LIMIT_PER_MINUTE: String(requestsPerMinute),
  })
  const { app, db } = api
  const scimKey = await api.createKey(['Manage People'])
  const scim: ScimApi['scim'] = async (method, path, payload, request = {}) => {
    const key = request.key === undefined ? scimKey : request.key
    const response = await app.inject({
      method,
      url: `/scim/v2${path}`,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(payload === undefined ? {} : { 'content-type': 'application/scim+json' }),
        ...request.headers,
      },
      ...(payload === undefined ? {} : { payload }),
    })
    const body = (response.body === '' ? undefined : response.json()) as never
    return { status: response.statusCode, headers: response.headers, body }
  }
  const create = async <Resource>(path: string, resource: object): Promise<Resource> => {
    const { status, body } = await scim<Resource>('POST', path, resource)
    if (status !== 201) throw new Error(`not created: ${JSON.stringify(body)}`)
    return body
  }
  return {
    ...api,
    scimKey,
    scim,
    createUser: (userName, attributes = {}) =>
      create('/Users', { schemas: [USER_SCHEMA], userName, ...attributes }),
    createGroup: (displayName, memberIds = []) =>
      create('/Groups', {
        schemas: [GROUP_SCHEMA],
        displayName,
        members: memberIds.map((value) => ({ value })),
      }),
    auditOf: (targetType, targetId) =>
      db
        .selectFrom('audit_entry')
        .select(['action', 'actor_name', 'before', 'after', 'txn'])
        .where('target_id', '=', targetId)
        .where('target_type', '=', targetType)
        .orderBy('sequence')
        .execute(),
  }
}

/** A filter as a query of a path. */
export function filterQuery(filter: string): string {
  return `filter=${encodeURIComponent(filter)}`
}

/** The body of a PATCH. */
export function patchOf(...operations: object[]): object {
  return { schemas: [PATCH_SCHEMA], Operations: operations }
}
