/*
 * What an operation is, on every surface: who may call it, what goes in, what comes out, and the function
 * that carries it out. Owns the type and its addresses; `route.ts` declares operations whose input and
 * answer are checked by schemas, `surface.ts` puts operations to work.
 */
import type { KeyObject } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyBaseLogger } from 'fastify'
import { z } from 'zod'
import type { AheadStatement, ReadAhead } from '../db/read-ahead.ts'
import type { TransactionHooks } from '../db/transaction-hooks.ts'
import type { SearchField } from '../search/search-field.ts'
import type { RateLimitDecision } from '../rate-limits/rate-limiter.ts'
import { toStorableText } from '../storable-text.ts'

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

/** Every method that an operation can have. */
export const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** The session of a person who is signed in. */
export interface CallerSession {
  readonly id: string
  readonly email: string
  /** How much the person may do, in a word. */
  readonly accessLevel: string
  /** What a person with limited access may not do. */
  readonly restrictions: readonly string[]
  /** When the person last proved to be there; null once that is too long ago to open what asks for it. */
  readonly steppedUpAt: Date | null
}

/** The authenticated caller of a request. `id` is the id of the credential or of whom it stands for. */
export interface Caller {
  /** The kind of credential, such as `api_key`. */
  readonly kind: string
  readonly id: string
  readonly name: string
  readonly permissions: ReadonlySet<string>
  /** Of a person who is signed in. */
  readonly session?: CallerSession
}

/** A person who is signed in. */
export type SessionCaller = Caller & { readonly session: CallerSession }

/**
 * Who may call an operation. `public`: anyone, no credential is looked at. `permission`: a caller who holds
 * it; null is any caller. `scope`: an access token that is good for it. `session`: a person who is signed in.
 */
export type Access =
  | 'public'
  | { readonly permission: string | null }
  | { readonly scope: string }
  | { readonly session: true }

/** What lists need to write cursors and the address of the next page. */
export interface Paging {
  /** What the world calls the service, without a slash at the end. */
  readonly baseUrl: string
  /** Signs cursors; derived from the master key. */
  readonly cursorKey: KeyObject
}

/** What is known about a request before its input is looked at. */
export interface RequestFacts {
  readonly requestId: string
  /** As it was sent: a HEAD is carried out by the operation of the GET. */
  readonly method: string
  /** The client's address, as far as the trusted proxies tell it. */
  readonly address: string
  /** The trace id of the caller's W3C `traceparent`, if it sent a valid one. */
  readonly traceId: string | undefined
  readonly headers: IncomingHttpHeaders
  /** The concrete path, without a query and without a slash at the end. */
  readonly path: string
  /** The query as it was sent, before validation. */
  readonly rawQuery: Readonly<Record<string, string>>
  /** Undefined on a surface without lists. */
  readonly paging: Paging | undefined
  /** Run in the change of a request with an idempotency key. */
  readonly transactionHooks: TransactionHooks | undefined
  /** Makes a signal that is aborted when the connection ends, which after the answer means nothing. */
  readonly disconnection: () => AbortSignal
  /**
   * Whether the caller may still send this request, and holds all that it held when it sent it: for answers that
   * last. Counts as no request. Rejects when it cannot be known at present.
   */
  readonly isStillAllowed: () => Promise<boolean>
  /** What was read for it while it was let through. */
  readonly ahead?: ReadAhead | undefined
}

/** A request as it was sent, by a caller who may send it. */
export interface OperationRequest<By extends Caller | undefined = Caller> extends RequestFacts {
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, unknown>>
  readonly body: unknown
  /** Undefined on a public operation. */
  readonly principal: By
}

export type SuccessStatus = 200 | 201 | 202 | 204 | 304

/** An answer to a request that succeeded. A body of `undefined` is none. */
export interface Answer {
  readonly status: SuccessStatus
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** A schema per success status. Declare an answer without a body with `noContent`. */
export type ResponseSchemas = Partial<Record<SuccessStatus, z.ZodType>>

/** The response schema of a status without a body. */
export const noContent = z.undefined()

/** OpenAPI examples by key. */
export type QueryExamples = Readonly<
  Record<string, { readonly value: string; readonly summary: string }>
>

/** Values with which the operation can be tried out, for the documentation. */
export interface OperationExample {
  /** Path parameters; `1` where none is given. */
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  /** A body that the operation takes; made from the schema where none is given. */
  readonly body?: unknown
}

/** What a credential is looked for in. The path parameters have not been validated. */
export interface CredentialRequest {
  readonly method: string
  readonly headers: IncomingHttpHeaders
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, unknown>>
  readonly address: string
  readonly access: Access
  /** Whether the operation asks a session for a step-up. */
  readonly stepUp: boolean
  /** Whether the operation is open to a session whose device is not trusted. */
  readonly opensWithoutDevice: boolean
  /**
   * Whether the request is a use of what it carries: not when that is looked for again while the request is under
   * way, and not when clients send the operation by themselves.
   */
  readonly isUse: boolean
  /** What the request will read; `admit` may have it read at once. */
  readonly readAhead: () => AheadStatement | undefined
  readonly log: FastifyBaseLogger
}

/** A caller, and whether its request still has a place within its rate limit. */
export interface Admission<By extends Caller = Caller> {
  readonly caller: By
  readonly decision: RateLimitDecision
  /** What was read along with it. */
  readonly ahead?: ReadAhead | undefined
}

/** One way in which requests say who sends them. */
export interface Credential<By extends Caller = Caller> {
  /** `session` opens the operations for people who are signed in. */
  readonly kind: 'token' | 'session'
  /**
   * The caller; undefined for a request that carries no credential of this kind.
   *
   * @throws AppError `unauthenticated` for one that is unknown, expired or revoked
   */
  readonly find: (request: CredentialRequest) => Promise<By | undefined>
  /**
   * `find`, and a place of the rate limit of the caller, where both are one question to the database; left out, the
   * place is taken by itself.
   */
  readonly admit?: (request: CredentialRequest) => Promise<Admission<By> | undefined>
}

/** The announced end of a part of an interface. */
export interface Deprecation {
  /** From when on clients should move away. */
  readonly since: Date
  /** When it stops answering; not before. */
  readonly sunset?: Date
}

/** A declared operation, ready to be mounted on a surface. */
export interface Operation<By extends Caller = Caller> {
  readonly method: Method
  /** `:name` as a whole segment is a parameter; other colons are themselves. */
  readonly path: string
  readonly access: Access
  /** Other credentials that this operation takes, tried before those of the surface. */
  readonly credentials: readonly Credential<By>[]
  /** Whether a session opens it only shortly after its person has proven to be there; keys are not asked. */
  readonly stepUp: boolean
  /** Whether a session opens it before its device is trusted, where that is asked for. */
  readonly opensWithoutDevice: boolean
  /** Whether clients send it by themselves, again and again, so that it says of nobody that they are there. */
  readonly isUnattended: boolean
  /** Whether HEAD is answered like GET; not where every answer is put on record. */
  readonly answersHead: boolean
  /** The switch that closes the operation; null for none, undefined for what the surface decides. */
  readonly feature: string | null | undefined
  /** The versions of the surface that know the operation; undefined for all. */
  readonly versions: readonly string[] | undefined
  /** A few words in the imperative, for the reference. */
  readonly summary: string
  readonly description: string | undefined
  readonly tags: readonly string[]
  readonly params: z.ZodType
  readonly query: z.ZodType
  readonly queryExamples: QueryExamples
  /** What a list can be searched by; empty for everything else. */
  readonly searchFields: readonly SearchField[]
  readonly body: z.ZodType | undefined
  readonly responses: ResponseSchemas
  /** Whether PUT is answered like this PATCH; of routes, unless they say `false`. */
  readonly putAlias: boolean
  readonly operationId: string
  readonly example: OperationExample
  /** Whether 409 is among the answers; of writes it always is. */
  readonly mayConflict: boolean
  /** Announced in the headers of every answer and in the document. */
  readonly deprecation: Deprecation | undefined
  /** Left out of the document. */
  readonly hidden: boolean
  /** What carrying it out will read, from a request that nobody has checked; undefined where that is not known. */
  readonly readAhead?: (
    request: Pick<OperationRequest, 'params' | 'query'>,
  ) => AheadStatement | undefined
  /** Carries the request out. Refusals are thrown as `AppError`. */
  run(request: OperationRequest<By | undefined>): Promise<Answer>
  /** The answer that the result of a change is; undefined for a result that is none. */
  prepare(result: unknown): Answer | undefined
}

type Required = 'method' | 'path' | 'access' | 'summary' | 'responses'

/** What a declaration says of an operation; what it leaves out is as usual. */
export interface OperationDefinition<By extends Caller>
  extends
    Pick<Operation<By>, Required>,
    Partial<Omit<Operation<By>, Required | 'run' | 'prepare'>> {
  readonly handler: (request: OperationRequest<By>) => Promise<Answer> | Answer
}

/**
 * Declares an operation whose handler reads the request and makes the answer itself: its schemas are for the
 * document. Where they are to be kept as well, `route` (route.ts) declares it.
 */
export function operation<By extends Caller = Caller>({
  handler,
  ...declared
}: OperationDefinition<By>): Operation<By> {
  const { method, path, access } = declared
  return {
    credentials: [],
    stepUp: false,
    opensWithoutDevice: false,
    isUnattended: false,
    answersHead: true,
    feature: undefined,
    versions: undefined,
    description: undefined,
    tags: [],
    params: stringParams(path),
    query: z.object({}),
    queryExamples: {},
    searchFields: [],
    body: undefined,
    operationId: toOperationId(method, path),
    example: {},
    mayConflict: method !== 'GET' && access !== 'public',
    deprecation: undefined,
    hidden: false,
    ...declared,
    putAlias: method === 'PATCH' && declared.putAlias === true,
    // The access check has made sure of a caller wherever the operation is not public.
    run: async (request) => handler(request as OperationRequest<By>),
    prepare: (result) => (result instanceof ChosenAnswer ? result : undefined),
  }
}

/** An answer with a chosen status and headers of its own; made by `answer`. */
export class ChosenAnswer<Status extends SuccessStatus, Body> implements Answer {
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
): ChosenAnswer<Status, Body> {
  return new ChosenAnswer(status, body, headers)
}

/** The methods that an operation answers. */
export function methodsOf({ method, putAlias }: Operation): Method[] {
  return putAlias ? [method, 'PUT'] : [method]
}

/**
 * Whether a request can be repeated with an idempotency key: every write of a known caller, but those about a
 * session, whose answers carry its secrets.
 */
export function isRepeatable({ method, access }: Operation): boolean {
  return method !== 'GET' && access !== 'public' && !('session' in access)
}

/** The permission that an operation needs; null for none. */
export function permissionOf({ access }: Operation): string | null {
  return access !== 'public' && 'permission' in access ? access.permission : null
}

const PARAM_LENGTH_MAX = 200

function stringParams(path: string): z.ZodType {
  const schema = z.string().min(1).max(PARAM_LENGTH_MAX).transform(toStorableText)
  return z.object(Object.fromEntries(paramNamesOf(path).map((name) => [name, schema])))
}

/** `GET /devices/:id/open_issues` becomes `getDevicesByIdOpenIssues`. */
function toOperationId(method: Method, path: string): string {
  const words = fillPath(path, (name) => `by_${name}`)
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
  return method.toLowerCase() + words.map((word) => word[0]?.toUpperCase() + word.slice(1)).join('')
}

/** Only a whole segment is a parameter: `/subjects:add` has none. */
const PARAM = /(?<=\/):(\w+)/g

/** The names of the parameters of a path. */
export function paramNamesOf(path: string): string[] {
  return [...path.matchAll(PARAM)].map((match) => match[1] ?? '')
}

/** The path with its parameters written by `write`. */
export function fillPath(path: string, write: (name: string) => string): string {
  return path.replace(PARAM, (_match, name: string) => write(name))
}

/** The path as OpenAPI writes it: `/devices/{id}`. */
export function toDocumentPath(path: string): string {
  return fillPath(path, (name) => `{${name}}`)
}

/** The path for the router, in which a colon that begins no parameter is doubled. */
export function toRouterPath(path: string): string {
  return path.replace(/(?<!\/):/g, '::')
}
