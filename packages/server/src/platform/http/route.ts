/**
 * Declares operations whose input and answer are checked by schemas: those of the REST API, and every other
 * that wants it. Owns the checks and the answers; what an operation is, `operation.ts` says.
 *
 *     export function deviceRoutes({ db, runChange }: DeviceDependencies): ApiRoute[] {
 *       return [
 *         route({
 *           method: 'GET',
 *           path: '/devices/:id',
 *           summary: 'Show a device',
 *           tags: ['Devices'],
 *           permission: null,
 *           responses: { 200: deviceSchema },
 *           handler: async ({ params }) => toDeviceJson(await getDevice(db, params.id)),
 *         }),
 *         changeRoute(runChange, {
 *           method: 'PATCH', // answers PUT too
 *           path: '/devices/:id/authentication_mode',
 *           summary: 'Change how a device may sign in',
 *           tags: ['Devices'],
 *           permission: 'Update Devices',
 *           body: z.strictObject({ authentication_mode: z.enum(AUTHENTICATION_MODES) }),
 *           responses: { 200: deviceSchema },
 *           handler: async ({ change, params, body }) => { ... },
 *         }),
 *       ]
 *     }
 *
 * - `permission` is required. `null`: any live key. `'public'`: no credential, no rate limit, and
 *   `principal` is undefined. `'session'`: a person who is signed in. A text: the key must hold that permission.
 * - `feature` is the switch that gates the route; `null` gates nothing, and left out the surface decides.
 * - `params` are strings unless a schema is given; `query` takes nothing unless one is given. Faults in
 *   both answer 400, faults in `body` 422, and unknown members are refused at the top level unless the
 *   schema is loose; write nested objects as `z.strictObject`. A POST without `body` takes none but an empty object.
 * - The handler's result is parsed with the response schema, so fields that it does not name are
 *   dropped. It answers with the lowest declared status; `answer(201, body, headers)` chooses another
 *   one or adds headers. Refusals are thrown as `AppError`.
 * - The handler of a `changeRoute` runs inside one change, and its answer is made there: so the answer that
 *   is kept for a repetition with the same idempotency key commits with the effect. Where that cannot be, it
 *   is kept right after it.
 * - A service binds `route` to its permissions and switches with the type `Route`.
 * - Lists are declared with `listRoute` (list-route.ts).
 */
import { Readable } from 'node:stream'
import { z } from 'zod'
import { expandQuery, expandRecords, type Expansions } from './expand.ts'
import {
  answer,
  ChosenAnswer,
  operation,
  type Access,
  type Answer,
  type Caller,
  type Method,
  type Operation,
  type OperationDefinition,
  type RequestFacts,
  type ResponseSchemas,
  type SessionCaller,
  type SuccessStatus,
} from './operation.ts'
import { assertWellFormed, parseRequestPart, refuseUnknownMembers } from './validation.ts'

const mediaTypes = new WeakMap<z.ZodType, string>()

export { answer, noContent, type Operation, type Operation as ApiRoute } from './operation.ts'

/** Who may call a route; see the top of this file. */
export type RouteAccess<Permission extends string = string> =
  Permission | 'public' | 'session' | null

/** The response schema of a compressed file; the handler answers its bytes. */
export const gzipFile = ofMediaType(
  'application/gzip',
  z.custom<Buffer>((value) => Buffer.isBuffer(value)).meta({ type: 'string', format: 'binary' }),
)

/** The response schema of a text that is sent while it is made; the handler answers a stream of it. */
export function streamedText(mediaType: string): z.ZodType<Readable, Readable> {
  const isStream = z.custom<Readable>((value) => value instanceof Readable)
  return ofMediaType(mediaType, isStream.meta({ type: 'string' }))
}

/** The media type of an answer with this schema; undefined where the surface decides. */
export function mediaTypeOf(schema: z.ZodType): string | undefined {
  return mediaTypes.get(schema)
}

function ofMediaType<Schema extends z.ZodType>(mediaType: string, schema: Schema): Schema {
  mediaTypes.set(schema, mediaType)
  return schema
}

/** What a handler receives. */
export interface RouteContext<Params, Query, Body, By> extends RequestFacts {
  readonly params: Params
  readonly query: Query
  readonly body: Body
  readonly principal: By
}

type PathParamNames<Path extends string> = Path extends `${string}/:${infer Rest}`
  ? Rest extends `${infer Name}/${infer Tail}`
    ? Name | PathParamNames<`/${Tail}`>
    : Rest
  : never

/** The path parameters of a route that declares no schema for them: non-empty strings. */
export type DefaultParams<Path extends string> = z.ZodType<
  Readonly<Record<PathParamNames<Path>, string>>
>

/** What a handler returns: a body, or an answer that it has chosen. */
export type RouteResult<Responses extends ResponseSchemas> =
  | z.input<NonNullable<Responses[keyof Responses]>>
  | {
      [Status in keyof Responses & SuccessStatus]: ChosenAnswer<
        Status,
        z.input<NonNullable<Responses[Status]>>
      >
    }[keyof Responses & SuccessStatus]

/** Who calls a route with this access: nobody is known on a public one. */
export type RouteCaller<Access extends RouteAccess> = Access extends 'public'
  ? undefined
  : Access extends 'session'
    ? SessionCaller
    : Caller

/** What a route says in its own types. */
type OwnTypes = 'method' | 'access' | 'handler' | 'params' | 'query' | 'body' | 'responses'

/** What routes of every kind declare. */
export interface RouteDeclaration<Path extends string, Access extends RouteAccess> extends Omit<
  OperationDefinition<Caller>,
  OwnTypes
> {
  readonly path: Path
  readonly tags: readonly string[]
  readonly permission: Access
  /** What `expand` can put into the answer; reads only. */
  readonly expand?: Expansions
}

/** A route without its handler. */
export interface RouteShape<
  Path extends string,
  Access extends RouteAccess,
  Responses extends ResponseSchemas,
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
> extends RouteDeclaration<Path, Access> {
  readonly method: Method
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  /** Texts that are not well-formed are no fault of the body: refusing it would stop more than it mends. */
  readonly takesAnyText?: boolean
  readonly responses: Responses
}

export interface RouteDefinition<
  Path extends string,
  Access extends RouteAccess,
  Responses extends ResponseSchemas,
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
> extends RouteShape<Path, Access, Responses, Params, Query, Body> {
  readonly handler: (
    context: RouteContext<z.output<Params>, z.output<Query>, z.output<Body>, RouteCaller<Access>>,
  ) => Promise<RouteResult<Responses>> | RouteResult<Responses>
}

/** `route` for one set of permissions and switches: the compiler refuses any other. */
export type Route<Permission extends string, Feature extends string> = <
  const Path extends `/${string}`,
  const Access extends RouteAccess<Permission>,
  Responses extends ResponseSchemas,
  Params extends z.ZodType = DefaultParams<Path>,
  Query extends z.ZodType = z.ZodObject<Record<never, z.ZodType>>,
  Body extends z.ZodType = z.ZodUndefined,
>(
  definition: RouteDefinition<Path, Access, Responses, Params, Query, Body> & OfFeature<Feature>,
) => Operation

/** A declaration whose switch is one of these. */
export interface OfFeature<Feature extends string> {
  readonly feature?: Feature | null
}

/** Declares a route; the top of this file says how. */
export const route: Route<string, string> = (definition) => {
  const { permission, expand, handler, query: ownQuery, putAlias = true, ...other } = definition
  const { takesAnyText = false, ...declared } = other
  const query = withExpand(ownQuery ?? z.object({}), expand)
  const strictQuery = refuseUnknownMembers(query)
  const ownBody = definition.body ?? (definition.method === 'POST' ? NO_BODY : undefined)
  const parseBody = bodyParser(ownBody, takesAnyText)
  const { responses } = definition
  const prepare = (result: unknown) => prepareAnswer(toAnswer(result, responses), responses)
  const declaration = operation({
    ...declared,
    access: toAccess(permission),
    query,
    putAlias,
    handler: async (request) => {
      const parsedQuery = parseRequestPart(strictQuery, request.query, 'query')
      const result = await handler({
        ...request,
        params: parseRequestPart(declaration.params, request.params, 'params') as never,
        query: parsedQuery as never,
        body: parseBody(request.body) as never,
        principal: request.principal as never,
      })
      return prepare(
        expand === undefined ? result : await expandAnswer(result, parsedQuery, expand),
      )
    },
  })
  return {
    ...declaration,
    prepare: (result) => (result instanceof ChosenAnswer ? prepare(result) : undefined),
  }
}

function toAccess(permission: RouteAccess): Access {
  if (permission === 'public') return permission
  return permission === 'session' ? { session: true } : { permission }
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

/** The answer of a handler: what it has chosen, or its body with the lowest declared status. */
export function toAnswer(result: unknown, responses: ResponseSchemas) {
  return result instanceof ChosenAnswer
    ? (result as ChosenAnswer<SuccessStatus, unknown>)
    : answer(lowestStatus(responses), result)
}

function prepareAnswer(
  { status, headers, body }: ChosenAnswer<SuccessStatus, unknown>,
  responses: ResponseSchemas,
): Answer {
  const schema = responses[status]
  if (schema === undefined) throw new Error(`no response schema for status ${status}`)
  const mediaType = mediaTypeOf(schema)
  const ofFile = mediaType === undefined ? headers : { 'content-type': mediaType, ...headers }
  return { status, headers: ofFile, body: schema.parse(body) }
}

/** What a POST may bring that reads no body: a member would be passed over. Some clients send null for none. */
const NO_BODY = z.preprocess((body) => body ?? undefined, z.strictObject({}).optional())

/** An absent body counts as an empty object, so that the refusal names the missing members. */
function bodyParser(
  schema: z.ZodType | undefined,
  takesAnyText: boolean,
): (body: unknown) => unknown {
  if (schema === undefined) return () => undefined
  const strictSchema = refuseUnknownMembers(schema)
  const absent = strictSchema.safeParse(undefined).success ? undefined : {}
  return (body) => {
    if (!takesAnyText) assertWellFormed(body)
    return parseRequestPart(strictSchema, body === undefined ? absent : body, 'body')
  }
}

function lowestStatus(responses: ResponseSchemas): SuccessStatus {
  const statuses = Object.keys(responses).map(Number) as SuccessStatus[]
  const lowest = statuses.sort((left, right) => left - right)[0]
  if (lowest === undefined) throw new Error('a route declares at least one response')
  return lowest
}
