/*
 * What each agent path does: has the message read, answers or records. Owns what the log of the service says
 * of status lines; finding the device is read-agent-message.ts's, and what answers mean is posture's.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import type { ChangeOrigin } from '../../changes/change.ts'
import { parseQueryId } from '../../posture/osquery/check-schedule.ts'
import type { NodeState } from '../../posture/osquery/node-cache.ts'
import type { AgentDependencies, AgentHandler } from './agent-handler.ts'
import { LogCollector, type StatusLines } from './collect-log.ts'
import { WriteCollector } from './collect-write.ts'
import { createConfigTexts } from './config-texts.ts'
import { createDirectCheckIns, type DirectCheckIns } from './direct-check-ins.ts'
import { createEnrollHandler } from './enroll-handler.ts'
import { createReadAnswerer } from './answer-read.ts'
import { createAgentMessageReader } from './read-agent-message.ts'
import { recordLog, type WriteRecorder } from './record-agent-message.ts'
import type { EnrollmentRecorder } from './record-enrollments.ts'
import { createUnprovenSenders } from './unproven-senders.ts'

const STATUS_MESSAGE_LENGTH_MAX = 500

interface AgentHandlers extends Readonly<
  Record<'enroll' | 'config' | 'read' | 'write' | 'log', AgentHandler>
> {
  /** What answers the usual ones of the small messages. */
  readonly direct: DirectCheckIns
}

/** The handlers of the agent paths by name. */
export function createAgentHandlers(
  deps: AgentDependencies,
  writes: Pick<WriteRecorder, 'record'>,
  enrollments: Pick<EnrollmentRecorder, 'enroll'>,
): AgentHandlers {
  const { settings } = deps
  const senders = createUnprovenSenders(settings.failuresPerAddressPerMinute)
  const reader = createAgentMessageReader(deps, senders)
  const isAsked = (id: string) =>
    id.startsWith(deps.liveQueries.idPrefix) ||
    id.startsWith(deps.questions.idPrefix) ||
    parseQueryId(id) !== undefined
  const configTextOf = createConfigTexts(deps)
  const reads = createReadAnswerer(deps)

  return {
    direct: createDirectCheckIns(deps, { configTextOf, reads }),

    enroll: createEnrollHandler(deps, senders, enrollments),

    async config(request, reply) {
      const state = await reader.authenticate(request, settings.bodyBytesMax.read)
      return sendJson(reply, configTextOf(state))
    },

    async read(request, reply) {
      const state = await reader.authenticate(request, settings.bodyBytesMax.read)
      const read = deps.reads.begin(state.deviceId)
      const end = () => read?.end()
      const isOver = () => reply.raw.destroyed || read?.isOver === true
      // It may have left while its key was looked up.
      if (isOver()) end()
      else reply.raw.once('close', end)
      try {
        return sendJson(reply, await reads.answer(state, read, isOver))
      } finally {
        end()
      }
    },

    async write(request, reply) {
      const collector = new WriteCollector(isAsked)
      const message = await reader.read(request, collector, {
        cutMembers: WriteCollector.cutMembers,
        bytesMax: settings.bodyBytesMax.write,
      })
      await writes.record(message, collector, toOrigin(request))
      return sendJson(reply, '{}')
    },

    async log(request, reply) {
      const collector = new LogCollector(deps.reporting.prefix)
      const message = await reader.read(request, collector, {
        cutMembers: LogCollector.cutMembers,
        bytesMax: settings.bodyBytesMax.log,
      })
      const status = collector.readStatus()
      if (status !== undefined) logStatusLines(request, message.state, status)
      await recordLog(deps, message, collector, toOrigin(request))
      return sendJson(reply, '{}')
    },
  }
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
  { lineCount, lines }: StatusLines,
): void {
  request.log.debug(
    {
      device_id: state.deviceId,
      line_count: lineCount,
      lines: lines.map((line) => ({
        severity: String(line['severity']).slice(0, 10),
        message: String(line['message']).slice(0, STATUS_MESSAGE_LENGTH_MAX),
      })),
    },
    'agent status',
  )
}
