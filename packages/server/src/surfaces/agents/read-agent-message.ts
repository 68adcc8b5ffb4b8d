/*
 * Finds the device behind a request. A key in the header is judged before the body is read; one in the body
 * is judged as soon as it has come, and until then the body costs no more than unknown senders may cost.
 */
import type { FastifyRequest } from 'fastify'
import { AppError } from '../../platform/app-error.ts'
import { addressBucket } from '../../platform/rate-limits/address-bucket.ts'
import type { NodeState } from '../../posture/osquery/node-cache.ts'
import { createWindowLimiter } from '../../posture/osquery/window-limiter.ts'
import { NodeInvalidError } from './agent-error.ts'
import type { AgentDependencies } from './agent-handler.ts'
import { JsonSplitter } from './json-splitter.ts'
import type { MessageCollector } from './message-collector.ts'
import {
  parseAgentBody,
  parseAuthorization,
  parseJson,
  parseNodeKey,
} from './parse-agent-message.ts'
import { bodyTooLarge, readAgentBody, readBodyChunks } from './read-agent-body.ts'
import type { UnprovenSenders } from './unproven-senders.ts'

export interface MessageBounds {
  /** The members whose values are taken one by one. */
  readonly cutMembers: ReadonlySet<string>
  /** More is not read. */
  readonly bytesMax: number
}

/** A message of a device that was read. */
export interface ReadMessage {
  readonly state: NodeState
  /** Whether it was longer than is read: the end is missing. */
  readonly isCut: boolean
}

export interface AgentMessageReader {
  /** The device behind a small message, of which nothing but the key is of interest. */
  authenticate(request: FastifyRequest, bodyBytesMax: number): Promise<NodeState>
  /** Reads a message that may be large into a collector. */
  read(
    request: FastifyRequest,
    collector: MessageCollector,
    bounds: MessageBounds,
  ): Promise<ReadMessage>
}

/** Agents send lines of 1 MiB at most, and JSON may be written longer than it was. */
const VALUE_BYTES_MAX = 2 * 1024 * 1024
/** More lines and answers of one message are not read: short ones cost far more than their bytes. */
const VALUES_MAX = 100_000
/** Refused messages of one address in any minute that are logged. */
const LOGGED_REFUSALS_PER_MINUTE = 10

/**
 * Creates the reader. Its methods reject with AppError `unauthenticated`, `malformed_json`,
 * `body_too_large`, `unsupported_media_type` and `rate_limited`.
 */
export function createAgentMessageReader(
  deps: AgentDependencies,
  senders: UnprovenSenders,
): AgentMessageReader {
  const loggedRefusals = createWindowLimiter(LOGGED_REFUSALS_PER_MINUTE)
  const nowMs = () => deps.clock.now().getTime()

  return {
    async authenticate(request, bodyBytesMax) {
      const headerKey = parseAuthorization(request.headers.authorization)
      const headerState =
        headerKey === undefined ? undefined : await prove(deps, senders, request, headerKey)
      const bodyKey = parseNodeKey(parseAgentBody(await readAgentBody(request.raw, bodyBytesMax)))
      const key = bodyKey === undefined ? headerKey : toOneKey(headerKey, bodyKey)
      const state = headerState ?? (await prove(deps, senders, request, key))
      deps.contacts.recordContact(state.deviceId, nowMs(), request.ip)
      return state
    },

    async read(request, collector, bounds) {
      try {
        const message = await readProven(deps, senders, request, { collector, ...bounds })
        deps.contacts.recordContact(message.state.deviceId, nowMs(), request.ip)
        return message
      } catch (error) {
        const sender = addressBucket(request.ip)
        if (isToldToOperators(error) && !loggedRefusals.isExhausted(sender, nowMs())) {
          loggedRefusals.count(sender, nowMs())
          const { code, message } = error
          request.log.warn(
            { path: request.routeOptions.url, address: request.ip, code, reason: message },
            'agent message refused; the agent keeps it and sends it again',
          )
        }
        throw error
      }
    },
  }
}

/** @throws NodeInvalidError for a missing, unknown or revoked key */
async function prove(
  { clock, nodes }: AgentDependencies,
  senders: UnprovenSenders,
  request: FastifyRequest,
  nodeKey: string | undefined,
): Promise<NodeState> {
  const state =
    nodeKey === undefined ? undefined : (nodes.peek(nodeKey) ?? (await nodes.find(nodeKey)))
  if (state !== undefined) return state
  senders.countFailure(request.ip, clock.now().getTime())
  throw new NodeInvalidError(
    nodeKey === undefined
      ? 'The node key is missing.'
      : 'The node key is unknown or has been revoked.',
  )
}

async function readProven(
  deps: AgentDependencies,
  senders: UnprovenSenders,
  request: FastifyRequest,
  { collector, cutMembers, bytesMax }: MessageBounds & { readonly collector: MessageCollector },
): Promise<ReadMessage> {
  let key = parseAuthorization(request.headers.authorization)
  let state = key === undefined ? undefined : await prove(deps, senders, request, key)
  let bodyKey: string | undefined
  const splitter = new JsonSplitter({
    cutMembers,
    valueBytesMax: VALUE_BYTES_MAX,
    onValue: (place, text) => {
      if (place.isPart || place.member !== 'node_key') collector.take(place, text)
      else if (text !== undefined) bodyKey = parseNodeKey({ node_key: parseJson(text) })
    },
  })
  const followed = senders.follow(request.ip, deps.clock.now().getTime())
  let bytes = 0
  let isCut = false
  try {
    for await (const { chunk, sentBytes } of readBodyChunks(request.raw)) {
      const { valueCount } = splitter
      bytes += chunk.length
      isCut = bytes > bytesMax || valueCount > VALUES_MAX
      if (isCut) break
      if (state !== undefined) followed.prove(state.deviceId)
      const heldBytes = collector.heldBytes + splitter.heldBytes
      followed.check({ bytes, sentBytes, heldBytes, valueCount })
      splitter.write(chunk)
      if (bodyKey === undefined) continue
      key = toOneKey(key, bodyKey)
      state ??= await prove(deps, senders, request, key)
    }
    if (!isCut) splitter.end()
  } finally {
    followed.release()
  }
  if (state === undefined && isCut) throw bodyTooLarge(bytesMax)
  return { state: state ?? (await prove(deps, senders, request, undefined)), isCut }
}

/** Dead keys are everyday; what an agent sends again and again for nothing is not. */
function isToldToOperators(error: unknown): error is AppError {
  return (
    error instanceof AppError && error.kind !== 'unauthenticated' && error.kind !== 'unavailable'
  )
}

/** @throws AppError `unauthenticated` when a message carries two */
function toOneKey(known: string | undefined, bodyKey: string): string {
  if (known === undefined || known === bodyKey) return bodyKey
  const message = 'The node keys of the header and of the body differ.'
  throw new AppError('unauthenticated', message)
}
