/*
 * What each agent path does: finds the device behind the request, reads the message, answers or records. Owns
 * authentication by node key and that one message is one change; what answers mean for a device is posture's.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import type { ChangeOrigin } from '../../changes/change.ts'
import { recordCheckResults } from '../../posture/checks/record-check-results.ts'
import { parseQueryId } from '../../posture/osquery/check-schedule.ts'
import { toAgentConfig } from '../../posture/osquery/agent-config.ts'
import type { DistributedResult } from '../../posture/osquery/agent-message.ts'
import { AppError } from '../../platform/app-error.ts'
import { NodeInvalidError } from './agent-error.ts'
import type { AgentDependencies, AgentHandler } from './agent-handler.ts'
import { createEnrollHandler } from './enroll-handler.ts'
import {
  handOutChecks,
  hasDueChecks,
  noteAnswer,
  toReadAnswer,
} from '../../posture/osquery/hand-out-work.ts'
import type { NodeState } from '../../posture/osquery/node-cache.ts'
import { listRunnableChecks } from '../../posture/osquery/node-store.ts'
import {
  parseAgentBody,
  parseAgentLog,
  parseAuthorization,
  parseDistributedWrite,
  parseNodeKey,
  parseReportedSnapshots,
  type JsonObject,
} from './parse-agent-message.ts'
import { readAgentBody } from './read-agent-body.ts'

/** Status lines of one message that are logged. */
const STATUS_LINES_MAX = 20
const STATUS_MESSAGE_LENGTH_MAX = 500

/** The handlers of the agent paths by name. */
export function createAgentHandlers(
  deps: AgentDependencies,
): Readonly<Record<'enroll' | 'config' | 'read' | 'write' | 'log', AgentHandler>> {
  const { settings } = deps
  let configText: { schedule: object; text: string } | undefined

  return {
    enroll: createEnrollHandler(deps),

    async config(request, reply) {
      await authenticate(deps, request, settings.bodyBytesMax.read)
      const schedule = deps.reportingSchedule()
      if (configText?.schedule !== schedule) {
        configText = { schedule, text: toAgentConfig(settings, schedule) }
      }
      return sendJson(reply, configText.text)
    },

    async read(request, reply) {
      const { state } = await authenticate(deps, request, settings.bodyBytesMax.read)
      const nowMs = deps.clock.now().getTime()
      let queries = deps.liveQueries.pendingQueries(state.deviceId)
      if (hasDueChecks(state, settings, nowMs)) {
        const checks = await listRunnableChecks(deps.db, state.deviceId)
        const due = handOutChecks(state, checks, settings, nowMs)
        if (Object.keys(due).length > 0) queries = { ...queries, ...due }
      }
      return sendJson(reply, toReadAnswer(queries, state, settings, nowMs))
    },

    async write(request, reply) {
      const { state, body } = await authenticate(deps, request, settings.bodyBytesMax.write)
      const results = parseDistributedWrite(body)
      if (results.length > 0) await recordWrite(deps, state, results, toOrigin(request))
      return sendJson(reply, '{}')
    },

    async log(request, reply) {
      const { state, body } = await authenticate(deps, request, settings.bodyBytesMax.log)
      const log = parseAgentLog(body)
      if (log.type === 'status') logStatusLines(request, state, log.lines)
      const snapshots =
        log.type === 'result' ? parseReportedSnapshots(log.lines, deps.reportingPrefix) : []
      if (snapshots.length > 0) {
        await deps.runChange(toOrigin(request), (change) =>
          deps.recordReportingSnapshots(change, state.deviceId, snapshots),
        )
      }
      return sendJson(reply, '{}')
    },
  }
}

/**
 * Records the answers of one distributed write in one change. Ids that are neither a check's nor a live
 * query's are ignored; a query that the agent has denylisted is an errored answer in its words.
 */
async function recordWrite(
  deps: AgentDependencies,
  state: NodeState,
  results: readonly DistributedResult[],
  origin: ChangeOrigin,
): Promise<void> {
  const { askedAtMs, deviceId } = state
  const { liveQueries, nodes, settings } = deps
  const liveResults = results.filter(({ id }) => id.startsWith(liveQueries.idPrefix))
  const report = await deps.runChange(origin, async (change) => {
    const report = await recordCheckResults(change, {
      deviceId,
      results: results.flatMap((result) => {
        const query = parseQueryId(result.id)
        return query === undefined ? [] : [{ ...result, ...query }]
      }),
      ...(askedAtMs === undefined ? {} : { askedAt: new Date(askedAtMs) }),
    })
    // Last, since the device is locked now, and many devices that answer one live query count there.
    if (liveResults.length > 0 && report.kind === 'recorded') {
      await liveQueries.recordResults(change, deviceId, liveResults)
    }
    return report
  })
  if (report.kind === 'unknown_device') {
    nodes.invalidate(deviceId)
    throw new NodeInvalidError('The device has been removed.')
  }
  noteAnswer(state, report, settings)
  if (report.acceptedCheckIds.length > 0) nodes.invalidate(deviceId)
}

/** Finds the device behind a request. A key in the header is judged before the body is read. */
async function authenticate(
  deps: AgentDependencies,
  request: FastifyRequest,
  bodyBytesMax: number,
): Promise<{ readonly state: NodeState; readonly body: JsonObject }> {
  const headerKey = parseAuthorization(request.headers.authorization)
  const headerState = headerKey === undefined ? undefined : await getNode(deps, headerKey)
  const body = parseAgentBody(await readAgentBody(request.raw, bodyBytesMax))
  const bodyKey = parseNodeKey(body)
  if (headerKey !== undefined && bodyKey !== undefined && headerKey !== bodyKey) {
    const message = 'The node keys of the header and of the body differ.'
    throw new AppError('unauthenticated', message)
  }
  const state = headerState ?? (await getNode(deps, bodyKey))
  deps.contacts.recordContact(state.deviceId, deps.clock.now().getTime(), request.ip)
  return { state, body }
}

/** @throws NodeInvalidError for a missing, unknown or revoked key */
async function getNode(deps: AgentDependencies, nodeKey: string | undefined): Promise<NodeState> {
  if (nodeKey === undefined) throw new NodeInvalidError('The node key is missing.')
  const state = deps.nodes.peek(nodeKey) ?? (await deps.nodes.find(nodeKey))
  if (state !== undefined) return state
  throw new NodeInvalidError('The node key is unknown or has been revoked.')
}

function toOrigin(request: FastifyRequest): ChangeOrigin {
  return { actor: SYSTEM_ACTOR, requestId: request.id, ipAddress: request.ip }
}

function sendJson(reply: FastifyReply, text: string): string {
  void reply.header('content-type', 'application/json; charset=utf-8')
  return text
}

function logStatusLines(
  request: FastifyRequest,
  state: NodeState,
  lines: readonly JsonObject[],
): void {
  request.log.debug(
    {
      device_id: state.deviceId,
      line_count: lines.length,
      lines: lines.slice(0, STATUS_LINES_MAX).map((line) => ({
        severity: String(line['severity']).slice(0, 10),
        message: String(line['message']).slice(0, STATUS_MESSAGE_LENGTH_MAX),
      })),
    },
    'agent status',
  )
}
