/**
 * The one way to declare an operation of the REST API. A route is data: who may call it, what goes in,
 * what comes out, and the function that maps it to a use case. `register-api.ts` puts routes to work;
 * the documentation, the permission table and the OpenAPI document are read from the same declarations.
 *
 *     export function deviceRoutes({ store }: { store: DeviceStore }): ApiRoute[] {
 *       return [
 *         route({
 *           method: 'GET',
 *           path: '/devices/:id',
 *           summary: 'Show a device',
 *           tags: ['Devices'],
 *           permission: null,
 *           responses: { 200: deviceSchema },
 *           handler: async ({ params }) => toDeviceJson(await store.getDevice(params.id)),
 *         }),
 *         route({
 *           method: 'PATCH', // answers PUT too
 *           path: '/devices/:id/authentication_mode',
 *           summary: 'Change how a device may sign in',
 *           tags: ['Devices'],
 *           permission: 'Update Devices',
 *           body: z.strictObject({ authentication_mode: z.enum(AUTHENTICATION_MODES) }),
 *           responses: { 200: deviceSchema },
 *           handler: async ({ params, body, principal, requestId }) => { ... },
 *         }),
 *       ]
 *     }
 *
 * - `permission` is required. `null`: any live key. `'public'`: no credential, no rate limit, and
 *   `principal` is undefined. A text: the key must hold that permission.
 * - `feature` is the organisation switch that gates the route. Left out, a write (any method but GET)
 *   with a key is gated by `api_writes`; `null` gates nothing.
 * - `params` are strings unless a schema is given; `query` takes nothing unless one is given. Faults in
 *   both answer 400, faults in `body` 422, and unknown members are refused at the top level unless the
 *   schema is loose; write nested objects as `z.strictObject`.
 * - The handler's result is parsed with the response schema, so fields that it does not name are
 *   dropped. It answers with the lowest declared status; `answer(201, body, headers)` chooses another
 *   one or adds headers. Refusals are thrown as `AppError`.
 * - A write makes its answer inside the change, `runChange(toOrigin(context), async (change) =>
 *   answer(200, toJson(await ...)))`, and returns it: then the answer that is kept for a repetition with
 *   the same idempotency key commits with the effect. Where that cannot be, it is kept right after it.
 * - Lists are declared with `listRoute` (list-route.ts).
 */
import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import type { TransactionCompanion } from '../db/transaction-companion.ts'
import type { ApiVersion } from './api-version.ts'
import type { Deprecation } from './deprecation.ts'
import { expandQuery, expandRecords, type Expansions } from './expand.ts'
import type { Permission, Principal } from './principal.ts'
import { parseRequestPart, refuseUnknownMembers } from './validation.ts'

export type RouteMethod = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

/** A switch of the organisation that can close a part of the API. */
export type Feature = 'ssf' | 'api_writes'

/** Who may call a route; see the top of this file. */
export type RouteAccess = Permission | 'public' | null

export type SuccessStatus = 200 | 201 | 202 | 204

/** A schema per success status. Declare 204 with `noContent`. */
export type ResponseSchemas = Partial<Record<SuccessStatus, z.ZodType>>

/** The response schema of a status without a body. */
export const noContent = z.undefined()

/** The content type of `gzipFile`. */
export const GZIP_CONTENT_TYPE = 'application/gzip'

/** The response schema of a compressed file; the handler answers its bytes. */
export const gzipFile = z
  .custom<Buffer>((value) => Buffer.isBuffer(value))
  .meta({ type: 'string', format: 'binary' })

/** What is known about a request before its input is looked at. */
export interface RequestFacts {
  readonly requestId: string
  readonly apiVersion: ApiVersion
  /** The client's address, as far as the trusted proxies tell it. */
  readonly address: string
  /** The trace id of the caller's W3C `traceparent`, if it sent a valid one. */
  readonly traceId: string | undefined
  readonly headers: IncomingHttpHeaders
  /** The concrete path, without a query and without a slash at the end. */
  readonly path: string
  /** The query as it was sent, before validation. */
  readonly rawQuery: Readonly<Record<string, string>>
  readonly paging: Paging
  /** Takes part in the changes of a request with an idempotency key. */
  readonly companion: TransactionCompanion | undefined
  /** Makes a signal that is aborted when the connection ends, which after the answer means nothing. */
  readonly disconnection: () => AbortSignal
}

/** What lists need to write cursors and the address of the next page. */
export interface Paging {
  /** What the world calls the service, without a slash at the end. */
  readonly baseUrl: string
  /** Signs cursors; derived from the master key. */
  readonly cursorKey: Buffer
}

/** What a handler receives. */
export interface RouteContext<Params, Query, Body, Caller> extends RequestFacts {
  readonly params: Params
  readonly query: Query
  readonly body: Body
  readonly principal: Caller
}

/** An answer with a chosen status and headers of its own; made by `answer`. */
export class RouteAnswer<Status extends SuccessStatus, Body> {
  readonly status: Status
  readonly body: Body
  readonly headers: Readonly<Record<string, string>>

  constructor(status: Status, body: Body, headers: Readonly<Record<string, string>>) {
    this.status = status
    this.body = body
    this.headers = headers
  }
}

/** Answers with a status other than the default one, or with additional headers. */
export function answer<const Status extends SuccessStatus, Body>(
  status: Status,
  body: Body,
  headers: Readonly<Record<string, string>> = {},
): RouteAnswer<Status, Body> {
  return new RouteAnswer(status, body, headers)
}

type PathParamNames<Path extends string> = Path extends `${string}:${infer Rest}`
  ? Rest extends `${infer Name}/${infer Tail}`
    ? Name | PathParamNames<`/${Tail}`>
    : Rest
  : never

/** The path parameters of a route that declares no schema for them: non-empty strings. */
export type DefaultParams<Path extends string> = z.ZodType<
  Readonly<Record<PathParamNames<Path>, string>>
>

type RouteResult<Responses extends ResponseSchemas> =
  | z.input<NonNullable<Responses[keyof Responses]>>
  | {
      [Status in keyof Responses & SuccessStatus]: RouteAnswer<
        Status,
        z.input<NonNullable<Responses[Status]>>
      >
    }[keyof Responses & SuccessStatus]

/** Who calls a route with this access: nobody is known on a public one. */
export type Caller<Access extends RouteAccess> = Access extends 'public' ? undefined : Principal

/**
 * Finds a caller by a credential other than an API key; `undefined` leaves it to the API key. The path
 * parameters have not been validated.
 */
export type AlternativeCredential = (
  headers: IncomingHttpHeaders,
  params: Readonly<Record<string, string>>,
) => Promise<Principal | undefined>

/** OpenAPI examples by key. */
export type QueryExamples = Readonly<
  Record<string, { readonly value: string; readonly summary: string }>
>

/** Values with which the operation can be tried out, for the documentation. */
export interface RouteExample {
  /** Path parameters; `1` where none is given. */
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  /** A body that the operation takes; made from the schema where none is given. */
  readonly body?: unknown
}

export interface RouteDefinition<
  Path extends string,
  Access extends RouteAccess,
  Responses extends ResponseSchemas,
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
> {
  readonly method: RouteMethod
  /** `:name` marks a parameter. */
  readonly path: Path
  /** A few words in the imperative, for the reference. */
  readonly summary: string
  readonly description?: string
  readonly tags: readonly string[]
  readonly permission: Access
  readonly feature?: Feature | null
  /** The API versions that know the route; all when left out. Other versions answer 404. */
  readonly versions?: readonly ApiVersion[]
  readonly params?: Params
  readonly query?: Query
  /** Examples of the `query` search parameter for the documentation. */
  readonly queryExamples?: QueryExamples
  readonly body?: Body
  readonly responses: Responses
  /** PATCH routes answer PUT as well; `false` keeps PUT apart. */
  readonly putAlias?: boolean
  readonly operationId?: string
  /** What `expand` can put into the answer; reads only. */
  readonly expand?: Expansions
  readonly example?: RouteExample
  /** Whether 409 is among the answers; of writes it always is. */
  readonly mayConflict?: boolean
  /** Announced in the headers of every answer and in the OpenAPI document. */
  readonly deprecation?: Deprecation
  /** Left out of the OpenAPI document. */
  readonly hidden?: boolean
  /** Another credential that this route takes, tried before the API key. */
  readonly credential?: AlternativeCredential
  readonly handler: (
    context: RouteContext<z.output<Params>, z.output<Query>, z.output<Body>, Caller<Access>>,
  ) => Promise<RouteResult<Responses>> | RouteResult<Responses>
}

/** The raw parts of a request, not yet validated. */
export interface RawRequest {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
}

/** A complete answer, checked against the response schema. */
export interface PreparedAnswer {
  readonly status: SuccessStatus
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

/** A declared route, ready to be registered. */
export interface ApiRoute {
  readonly method: RouteMethod
  readonly path: string
  readonly summary: string
  readonly description: string | undefined
  readonly tags: readonly string[]
  readonly permission: RouteAccess
  readonly feature: Feature | null
  readonly versions: readonly ApiVersion[] | undefined
  readonly params: z.ZodType
  readonly query: z.ZodType
  readonly queryExamples: QueryExamples
  readonly body: z.ZodType | undefined
  readonly responses: ResponseSchemas
  readonly putAlias: boolean
  readonly operationId: string
  readonly example: RouteExample
  readonly mayConflict: boolean
  readonly deprecation: Deprecation | undefined
  readonly hidden: boolean
  readonly credential: AlternativeCredential | undefined
  /** Validates the input, runs the handler and checks its result. */
  run(
    input: RawRequest,
    facts: RequestFacts,
    principal: Principal | undefined,
  ): Promise<PreparedAnswer>
  /** The answer that a result of `answer(...)` becomes; `undefined` for any other value. */
  prepare(result: unknown): PreparedAnswer | undefined
}

/** Declares a route; the top of this file says how. */
export function route<
  const Path extends `/${string}`,
  const Access extends RouteAccess,
  Responses extends ResponseSchemas,
  Params extends z.ZodType = DefaultParams<Path>,
  Query extends z.ZodType = z.ZodObject<Record<never, z.ZodType>>,
  Body extends z.ZodType = z.ZodUndefined,
>(definition: RouteDefinition<Path, Access, Responses, Params, Query, Body>): ApiRoute {
  const { method, path, permission } = definition
  const params: z.ZodType = definition.params ?? defaultParams(path)
  const { expand } = definition
  const query = withExpand(definition.query ?? z.object({}), expand)
  const strictQuery = refuseUnknownMembers(query)
  const parseBody = bodyParser(definition.body)
  const defaultStatus = lowestStatus(definition.responses)
  return {
    method,
    path,
    summary: definition.summary,
    description: definition.description,
    tags: definition.tags,
    permission,
    feature:
      definition.feature === undefined ? defaultFeature(method, permission) : definition.feature,
    versions: definition.versions,
    params,
    query,
    queryExamples: definition.queryExamples ?? {},
    body: definition.body,
    responses: definition.responses,
    putAlias: method === 'PATCH' && definition.putAlias !== false,
    operationId: definition.operationId ?? defaultOperationId(method, path),
    example: definition.example ?? {},
    mayConflict: definition.mayConflict ?? (method !== 'GET' && permission !== 'public'),
    deprecation: definition.deprecation,
    hidden: definition.hidden ?? false,
    credential: definition.credential,
    async run(input, facts, principal) {
      const parsedQuery = parseRequestPart(strictQuery, input.query, 'query')
      const result = await definition.handler({
        ...facts,
        params: parseRequestPart(params, input.params, 'params') as z.output<Params>,
        query: parsedQuery as z.output<Query>,
        body: parseBody(input.body) as z.output<Body>,
        // The access check has made sure of a caller wherever the route is not public.
        principal: principal as Caller<Access>,
      })
      const shown = expand === undefined ? result : await expandAnswer(result, parsedQuery, expand)
      return prepareAnswer(shown, definition.responses, defaultStatus)
    },
    prepare: (result) =>
      result instanceof RouteAnswer
        ? prepareAnswer(result, definition.responses, defaultStatus)
        : undefined,
  }
}

function withExpand(query: z.ZodType, expand: Expansions | undefined): z.ZodType {
  if (expand === undefined) return query
  if (query instanceof z.ZodObject) return query.extend(expandQuery(expand).shape)
  throw new Error('what is expanded goes with the parameters of an object')
}

/** The answer is one record, or a page of them. */
async function expandAnswer(
  result: unknown,
  query: unknown,
  expansions: Expansions,
): Promise<unknown> {
  const { expand } = query as { expand?: string }
  if (expand === undefined) return result
  if (typeof result === 'object' && result !== null && 'data' in result) {
    const records = result.data as readonly object[]
    return { ...result, data: await expandRecords(records, expand, expansions) }
  }
  const [record] = await expandRecords([result as object], expand, expansions)
  return record
}

function prepareAnswer(
  result: unknown,
  responses: ResponseSchemas,
  defaultStatus: SuccessStatus,
): PreparedAnswer {
  const chosen =
    result instanceof RouteAnswer
      ? (result as RouteAnswer<SuccessStatus, unknown>)
      : new RouteAnswer(defaultStatus, result, {})
  const schema = responses[chosen.status]
  if (schema === undefined) throw new Error(`no response schema for status ${chosen.status}`)
  return { status: chosen.status, headers: chosen.headers, body: schema.parse(chosen.body) }
}

/** An absent body counts as an empty object, so that the refusal names the missing members. */
function bodyParser(schema: z.ZodType | undefined): (body: unknown) => unknown {
  if (schema === undefined) return () => undefined
  const strictSchema = refuseUnknownMembers(schema)
  const absent = strictSchema.safeParse(undefined).success ? undefined : {}
  return (body) => parseRequestPart(strictSchema, body === undefined ? absent : body, 'body')
}

const PARAM = /:(\w+)/g
const PARAM_LENGTH_MAX = 200

function defaultParams(path: string): z.ZodType {
  const names = [...path.matchAll(PARAM)].map((match) => match[1] ?? '')
  return z.object(
    Object.fromEntries(names.map((name) => [name, z.string().min(1).max(PARAM_LENGTH_MAX)])),
  )
}

function defaultFeature(method: RouteMethod, permission: RouteAccess): Feature | null {
  return method === 'GET' || permission === 'public' ? null : 'api_writes'
}

function lowestStatus(responses: ResponseSchemas): SuccessStatus {
  const statuses = Object.keys(responses).map(Number) as SuccessStatus[]
  const lowest = statuses.sort((left, right) => left - right)[0]
  if (lowest === undefined) throw new Error('a route declares at least one response')
  return lowest
}

/** `GET /devices/:id/open_issues` becomes `getDevicesByIdOpenIssues`. */
function defaultOperationId(method: RouteMethod, path: string): string {
  const words = path
    .replace(PARAM, 'by_$1')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
  return method.toLowerCase() + words.map((word) => word[0]?.toUpperCase() + word.slice(1)).join('')
}
