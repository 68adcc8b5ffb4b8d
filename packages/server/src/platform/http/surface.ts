/*
 * Puts declared operations to work. A surface is a set of operations with one way to find callers, to check
 * access, to answer and to tell failures; what surfaces have in common is done here, once. Owns nothing of
 * what an operation does.
 */
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../app-error.ts'
import type { TransactionHooks } from '../db/transaction-hooks.ts'
import {
  findCallerAgain,
  holdsAsMuch,
  identifyCaller,
  type AccessCheck,
  type AccessRequest,
  type CallerOptions,
} from './access.ts'
import { createErrorHandler, type SurfaceErrors } from './error-response.ts'
import type { AnswerOnce, RepeatableAnswer } from './idempotency/answer-once.ts'
import { IDEMPOTENT_REPLAYED_HEADER, readIdempotencyKey } from './idempotency/idempotency-key.ts'
import {
  isRepeatable,
  METHODS,
  methodsOf,
  toRouterPath,
  type Answer,
  type Caller,
  type Operation,
  type OperationRequest,
  type Paging,
} from './operation.ts'
import { readTraceId } from './trace-context.ts'
import { REFUSES } from './unmatched-path.ts'

export interface SurfaceDefinition<By extends Caller> {
  /** Where its paths begin; `''` for a surface whose operations name whole paths. */
  readonly prefix: string
  readonly operations: readonly Operation<By>[]
  readonly callers: CallerOptions<By>
  /** After the caller is known, in the order in which they refuse. */
  readonly checks: readonly AccessCheck<By>[]
  readonly errors: SurfaceErrors
  /** The content type of answers. */
  readonly mediaType: string
  /** Finds the version that a request asks for, and announces it. First of all. */
  readonly negotiateVersion?: (
    operation: Operation<By>,
    request: FastifyRequest,
    reply: FastifyReply,
  ) => string
  /** What lists write addresses with. */
  readonly paging?: Paging
  /** Keeps the answers of writes that carry an idempotency key. */
  readonly answerOnce?: AnswerOnce
  /** Refusals of its own for methods and paths that no operation answers. */
  readonly unanswered?: Unanswered
  /** Adds what is no operation, such as documents, with the failures of the surface. */
  readonly addOthers?: (scope: FastifyInstance) => void
}

export interface Unanswered {
  readonly toMethodRefusal: (method: string, allowed: readonly string[]) => AppError
  /** Below the prefix of the surface; left out, the service refuses unknown paths. */
  readonly toPathRefusal?: () => AppError
}

const ACCESS = 'grantedAccess'

/** Registers a surface. Two operations with the same method and path fail the start. */
export function registerSurface<By extends Caller>(
  app: FastifyInstance,
  surface: SurfaceDefinition<By>,
): void {
  void app.register(
    async (scope) => {
      scope.decorateRequest(ACCESS, null)
      scope.setErrorHandler(createErrorHandler(surface.errors))
      for (const operation of surface.operations) registerOperation(scope, operation, surface)
      if (surface.unanswered !== undefined) refuseUnanswered(scope, surface, surface.unanswered)
      surface.addOthers?.(scope)
    },
    { prefix: surface.prefix },
  )
}

function registerOperation<By extends Caller>(
  scope: FastifyInstance,
  operation: Operation<By>,
  surface: SurfaceDefinition<By>,
): void {
  scope.route({
    method: methodsOf(operation),
    url: toRouterPath(operation.path),
    exposeHeadRoute: operation.answersHead,
    onRequest: async (request, reply) => {
      request.setDecorator(ACCESS, await grantAccess(operation, surface, request, reply))
    },
    handler: async (request, reply) =>
      sendAnswer(request, reply, await carryOut(operation, surface, request, reply), surface),
  })
}

/** Lets a request through to an operation or refuses it, before its body is read. */
async function grantAccess<By extends Caller>(
  operation: Operation<By>,
  { callers, checks, negotiateVersion }: SurfaceDefinition<By>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<AccessRequest<By>> {
  const version = negotiateVersion?.(operation, request, reply)
  const { caller, ahead } =
    operation.access === 'public' ? {} : await identifyCaller(operation, callers, request, reply)
  for (const check of checks) await check(operation, { caller, version })
  return { caller, version, ahead }
}

/** Whether a request that was let through would be let through now, for no less than then. */
async function isStillAllowed<By extends Caller>(
  operation: Operation<By>,
  { callers, checks }: SurfaceDefinition<By>,
  request: FastifyRequest,
): Promise<boolean> {
  const { version, caller: before } = request.getDecorator<AccessRequest<By>>(ACCESS)
  try {
    const caller = await findCallerAgain(operation, callers, request)
    for (const check of checks) await check(operation, { caller, version, isUnderWay: true })
    return holdsAsMuch(caller, before)
  } catch (error) {
    if (error instanceof AppError && error.kind !== 'unavailable') return false
    throw error
  }
}

async function carryOut<By extends Caller>(
  operation: Operation<By>,
  surface: SurfaceDefinition<By>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<RepeatableAnswer> {
  const { answerOnce, paging, errors } = surface
  const { caller, version, ahead } = request.getDecorator<AccessRequest<By>>(ACCESS)
  const sent: OperationRequest<By | undefined> = {
    requestId: request.id,
    method: request.method,
    address: request.ip,
    traceId: readTraceId(request.headers),
    headers: request.headers,
    path: pathOf(request.url),
    rawQuery: request.query as Record<string, string>,
    paging,
    transactionHooks: undefined,
    disconnection: () => disconnectionOf(reply),
    isStillAllowed: () => isStillAllowed(operation, surface, request),
    ahead,
    params: request.params as Record<string, string>,
    query: request.query as Record<string, unknown>,
    body: request.body,
    principal: caller,
  }
  const key =
    answerOnce !== undefined && isRepeatable(operation)
      ? readIdempotencyKey(request.headers)
      : undefined
  if (answerOnce === undefined || key === undefined || caller === undefined) {
    return toRepeatable(await operation.run(sent))
  }
  const { path, query, body, requestId } = sent
  const { answer, isReplayed } = await answerOnce(
    {
      key,
      caller: `${caller.kind}:${caller.id}`,
      method: request.method,
      routePath: operation.path,
      content: { path, query, body, apiVersion: version ?? '' },
      requestId,
    },
    {
      perform: async (transactionHooks: TransactionHooks) =>
        toRepeatable(await operation.run({ ...sent, transactionHooks })),
      toAnswer: (result) => {
        const prepared = operation.prepare(result)
        return prepared && toRepeatable(prepared)
      },
      toRefusal: (error) => toFinalRefusal(error, requestId, errors),
    },
  )
  return isReplayed
    ? { ...answer, headers: { ...answer.headers, [IDEMPOTENT_REPLAYED_HEADER]: 'true' } }
    : answer
}

/** Faults that pass are no answer to keep. */
function toFinalRefusal(
  error: unknown,
  requestId: string,
  { toAnswer }: SurfaceErrors,
): RepeatableAnswer | undefined {
  const isFinal = error instanceof AppError && error.kind !== 'unavailable'
  return isFinal ? toAnswer(error, requestId) : undefined
}

function toRepeatable({ status, headers = {}, body }: Answer): RepeatableAnswer {
  return { status, headers, body }
}

function pathOf(url: string): string {
  const path = url.split('?', 1)[0] ?? ''
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}

function disconnectionOf({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController()
  if (raw.destroyed) controller.abort()
  else raw.once('close', () => controller.abort())
  return controller.signal
}

function sendAnswer<By extends Caller>(
  { method }: FastifyRequest,
  reply: FastifyReply,
  { status, headers, body }: RepeatableAnswer,
  { mediaType }: SurfaceDefinition<By>,
): FastifyReply {
  void reply.code(status).headers(headers)
  if (body === undefined) return reply.send()
  // A file names its own type, in the headers.
  if (Buffer.isBuffer(body)) return reply.send(body)
  if (body instanceof Readable) {
    // Of a body that is destroyed Fastify sends nothing, nor the length 0 (RFC 9110 section 8.6).
    if (method === 'HEAD') body.destroy()
    return reply.send(body)
  }
  return reply.type(mediaType).send(JSON.stringify(body))
}

function refuseUnanswered<By extends Caller>(
  scope: FastifyInstance,
  { operations }: SurfaceDefinition<By>,
  { toMethodRefusal, toPathRefusal }: Unanswered,
): void {
  const refuse = (url: string, methods: readonly string[], toRefusal: RefuseRequest) => {
    scope.route({
      method: [...methods],
      url,
      config: REFUSES,
      onRequest: async (request, reply) => {
        throw toRefusal(request, reply)
      },
      handler: async () => undefined,
    })
  }
  for (const [path, atPath] of Map.groupBy(operations, (operation) => operation.path)) {
    const answered = atPath.flatMap(methodsOf)
    const others = METHODS.filter((method) => !answered.includes(method))
    const isHeadRefused = atPath.some((operation) => !operation.answersHead)
    const isHeadAnswered = answered.includes('GET') && !isHeadRefused
    const allowed = isHeadAnswered ? [...answered, 'HEAD'] : answered
    refuse(
      toRouterPath(path),
      isHeadRefused ? [...others, 'HEAD'] : others,
      ({ method }, reply) => {
        void reply.header('allow', allowed.join(', '))
        return toMethodRefusal(method, allowed)
      },
    )
  }
  if (toPathRefusal === undefined) return
  for (const url of ['/', '/*']) refuse(url, METHODS, toPathRefusal)
}

type RefuseRequest = (request: FastifyRequest, reply: FastifyReply) => AppError
