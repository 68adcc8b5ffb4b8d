/*
 * What can be done with a stream, once for every surface: its configuration, its status, verification, health,
 * self-test, state and replay. Owns what the operations do. A surface says where it has them and with which
 * texts, who may see which stream, and how bodies that are wrong are answered; it lists and creates streams
 * in its own way.
 */
import {
  parseStreamStatusMessage,
  parseStreamUpdateRequest,
  parseVerificationRequest,
  type ParseResult,
} from '@heliograph/ssf'
import type { Change } from '../../changes/change.ts'
import { toOrigin } from '../../changes/to-origin.ts'
import { answer, noContent, type Answer } from '../../platform/http/operation.ts'
import { streamHealthSchema, toStreamHealth } from '../diagnosis/health/stream-health.ts'
import { getSelfTest, runSelfTest } from '../diagnosis/self-test/run-self-test.ts'
import { selfTestSchema, toSelfTestJson } from '../diagnosis/self-test/self-test-json.ts'
import { replayAnswerSchema, stateSchema } from '../history/history-json.ts'
import { replayStream } from '../history/replay-stream.ts'
import { readReplayRequest, readStatePage } from '../history/state-page.ts'
import { findTransmitterProblem, toConfigurationInput } from './configuration-change.ts'
import { deleteStream } from './delete-stream.ts'
import { requestVerification } from './request-verification.ts'
import { setStreamStatus } from './set-stream-status.ts'
import type { StreamContext } from './stream-context.ts'
import { streamStatusSchema, toStreamStatusJson } from './stream-json.ts'
import type { Stream } from './stream-store.ts'
import type {
  StreamAction,
  StreamOperation,
  StreamRequest,
  StreamSurface,
  StreamUse,
} from './stream-surface.ts'
import { changeStream } from './update-stream.ts'

type Actions<Request, Uses extends StreamUse> = Readonly<Record<Uses, StreamAction<Request>>>

/** The operations as a surface has them. */
export function streamOperations<Request extends StreamRequest, Declared>(
  surface: StreamSurface<Request, Declared>,
  context: StreamContext,
): Readonly<Record<StreamUse, Declared>> {
  const actions: Actions<Request, StreamUse> = {
    update: changeAction('PATCH', surface, context),
    replace: changeAction('PUT', surface, context),
    delete: deleteAction(surface, context),
    ...statusActions(surface, context),
    verify: {
      method: 'POST',
      responses: { 204: noContent },
      handler: (request) => verifyStream(request, surface, context),
    },
    ...diagnosisActions(surface, context),
    ...historyActions(surface, context),
  }
  const declared = Object.entries(actions).map(([name, action]) => {
    const use = name as StreamUse
    const operation: StreamOperation<Request> = { use, ...action, ...surface.places[use] }
    return [use, surface.declare(operation)] as const
  })
  return Object.fromEntries(declared) as Record<StreamUse, Declared>
}

/** Deletes the stream that a request names. */
export function deleteAction<Request extends StreamRequest>(
  surface: StreamSurface<Request, unknown>,
  context: StreamContext,
): StreamAction<Request> {
  return {
    method: 'DELETE',
    responses: { 204: noContent },
    handler: (request) =>
      changeLocked(request, surface, context, async (change, stream) => {
        await deleteStream(change, stream)
        return answer(204, undefined)
      }),
  }
}

/** Queues the verification event that a request asks for. SSF 1.0 section 8.1.4.2. */
export async function verifyStream<Request extends StreamRequest>(
  request: Request,
  surface: StreamSurface<Request, unknown>,
  context: StreamContext,
): Promise<Answer> {
  const wanted = readBody(parseVerificationRequest(request.body), surface)
  return changeLocked(request, surface, context, async (change, stream) => {
    await requestVerification(change, stream, wanted, surface.minVerificationIntervalSeconds)
    return surface.toSuccess(stream)
  })
}

/** Changes a configuration. SSF 1.0 sections 8.1.1.3 and 8.1.1.4. */
function changeAction<Request extends StreamRequest>(
  method: 'PATCH' | 'PUT',
  surface: StreamSurface<Request, unknown>,
  context: StreamContext,
): StreamAction<Request> {
  return {
    method,
    responses: { 200: surface.streamSchema },
    handler: async (request) => {
      const wanted = readBody(parseStreamUpdateRequest(request.body), surface)
      const extensions = surface.readExtensions(request, method)
      return changeLocked(request, surface, context, async (change, before) => {
        const rules = { method, ...surface.toConfigurationRules(before, request) }
        const problem = findTransmitterProblem(wanted, rules)
        if (problem !== undefined) throw surface.refuse([problem])
        const standard = toConfigurationInput(wanted.supplied, before, rules)
        const input = { ...extensions, ...standard }
        const stream = await changeStream(change, before, input, context)
        return answer(200, surface.toStreamJson(stream))
      })
    },
  }
}

/** SSF 1.0 section 8.1.2. */
function statusActions<Request extends StreamRequest>(
  surface: StreamSurface<Request, unknown>,
  context: StreamContext,
): Actions<Request, 'showStatus' | 'setStatus'> {
  const responses = { 200: streamStatusSchema }
  const { initiator } = surface
  return {
    showStatus: {
      method: 'GET',
      responses,
      handler: async (request) =>
        answer(200, toStreamStatusJson(await surface.findStream(context.db, request))),
    },
    setStatus: {
      method: 'POST',
      responses,
      handler: async (request) => {
        const { status, reason = null } = readBody(parseStreamStatusMessage(request.body), surface)
        return changeLocked(request, surface, context, async (change, stream) => {
          const after = await setStreamStatus(change, stream, { status, reason, initiator })
          return answer(200, toStreamStatusJson(after))
        })
      },
    },
  }
}

/** Looking at a receiver is no sign of life of it. */
function diagnosisActions<Request extends StreamRequest>(
  surface: StreamSurface<Request, unknown>,
  context: StreamContext,
): Actions<Request, 'showHealth' | 'selfTest' | 'showSelfTest'> {
  const { db, clock } = context
  const isSignOfLife = false
  return {
    showHealth: {
      method: 'GET',
      responses: { 200: streamHealthSchema },
      handler: async (request) => {
        const stream = await surface.findStream(db, request, { isSignOfLife })
        return answer(200, await toStreamHealth(db, stream, clock.now()))
      },
    },
    selfTest: {
      method: 'POST',
      responses: { 200: selfTestSchema },
      handler: async (request) => {
        const outcome = await runSelfTest(
          toOrigin(request),
          ({ tx }) => surface.findStream(tx, request, { isSignOfLife, isLocked: true }),
          context,
        )
        return answer(200, toSelfTestJson(outcome))
      },
    },
    showSelfTest: {
      method: 'GET',
      responses: { 200: selfTestSchema },
      handler: async (request) => {
        const stream = await surface.findStream(db, request, { isSignOfLife })
        return answer(200, toSelfTestJson({ stream, test: await getSelfTest(db, stream) }))
      },
    },
  }
}

/** Extensions of SSF that `packages/ssf` describes. */
function historyActions<Request extends StreamRequest>(
  surface: StreamSurface<Request, unknown>,
  context: StreamContext,
): Actions<Request, 'showState' | 'replay'> {
  return {
    showState: {
      method: 'GET',
      responses: { 200: stateSchema },
      handler: async (request) => {
        const stream = await surface.findStream(context.db, request)
        const { cursor } = request.query
        const place = typeof cursor === 'string' ? cursor : undefined
        return answer(200, await readStatePage(stream, place, context))
      },
    },
    replay: {
      method: 'POST',
      responses: { 202: replayAnswerSchema },
      handler: async (request) => {
        const wanted = readReplayRequest(request.body)
        return changeLocked(request, surface, context, async (change, stream) =>
          answer(202, await replayStream(change, stream, wanted, context)),
        )
      },
    },
  }
}

/** Changes something of the stream that a request names, under its lock. */
function changeLocked<Request extends StreamRequest>(
  request: Request,
  surface: StreamSurface<Request, unknown>,
  { runChange }: StreamContext,
  act: (change: Change, stream: Stream) => Promise<Answer>,
): Promise<Answer> {
  return runChange(toOrigin(request), async (change) =>
    act(change, await surface.findStream(change.tx, request, { isLocked: true })),
  )
}

function readBody<Value>(
  parsed: ParseResult<Value>,
  surface: Pick<StreamSurface<never, unknown>, 'refuse'>,
): Value {
  if (parsed.ok) return parsed.value
  throw surface.refuse(parsed.issues)
}
