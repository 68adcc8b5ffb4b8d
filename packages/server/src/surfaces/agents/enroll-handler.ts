import type { FastifyRequest } from 'fastify'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { AppError } from '../../platform/app-error.ts'
import { addressBucket } from '../../platform/rate-limits/address-bucket.ts'
import type { AgentDependencies, AgentHandler } from './agent-handler.ts'
import type { EnrollmentRequest } from '../../posture/osquery/agent-message.ts'
import type { Enrollment } from '../../posture/osquery/enrollment.ts'
import { parseAgentBody, parseAuthorization, parseEnrollment } from './parse-agent-message.ts'
import { readAgentBody } from './read-agent-body.ts'
import { findLiveSecret } from '../../posture/osquery/enrollment-store.ts'
import { hashEnrollmentSecret } from '../../posture/enrollment/secrets/create-enrollment-secret.ts'
import { createWindowLimiter } from '../../posture/osquery/window-limiter.ts'
import type { EnrollmentRecorder } from './record-enrollments.ts'
import type { UnprovenSenders } from './unproven-senders.ts'

const RETRY_AFTER_SECONDS = 60
/** Machines of one address that are not shown to be the device they claim to be, in any minute. */
const AUDITED_REFUSALS_PER_MINUTE = 10

/**
 * The handler of `/osquery/enroll`. An address that enrolls too often under one host identifier has to wait, and
 * so has one that fails too often, but only with what fails: behind it may stand a whole office. Nobody waits
 * for what others do in their name. Both are counted in this process.
 */
export function createEnrollHandler(
  deps: AgentDependencies,
  senders: UnprovenSenders,
  recorder: Pick<EnrollmentRecorder, 'enroll'>,
): AgentHandler {
  const { settings } = deps
  const enrollments = createWindowLimiter(settings.enrollmentsPerHostPerMinute)
  const auditedRefusals = createWindowLimiter(AUDITED_REFUSALS_PER_MINUTE)

  return async (request, reply) => {
    const nowMs = deps.clock.now().getTime()
    const body = await readAgentBody(request.raw, settings.bodyBytesMax.enroll)
    const enrollmentRequest = withHeaderKey(request, parseEnrollment(parseAgentBody(body)))
    const { hostIdentifier } = enrollmentRequest
    const source = `${request.ip} ${hostIdentifier}`
    if (enrollments.isExhausted(source, nowMs)) {
      throw tooMany('enrollments of one address under one host identifier')
    }
    const origin = { actor: SYSTEM_ACTOR, requestId: request.id, ipAddress: request.ip }
    // One look-up first: whoever guesses secrets gets no transaction and no lock.
    const secretHash = hashEnrollmentSecret(enrollmentRequest.secret)
    const sender = addressBucket(request.ip)
    const secret = await findLiveSecret(deps.db, secretHash, deps.clock.now())
    const auditsRefusals = !auditedRefusals.isExhausted(sender, nowMs)
    const attempt = { request: enrollmentRequest, origin, auditsRefusals }
    const enrollment: Enrollment =
      secret === undefined
        ? { kind: 'unknown_secret' }
        : await recorder.enroll(attempt, body.length)
    if (enrollment.kind !== 'enrolled') {
      if (isAudited(enrollment)) auditedRefusals.count(sender, nowMs)
      if (senders.isSuspect(request.ip, nowMs)) throw tooMany('refused enrollments of one address')
      senders.countFailure(request.ip, nowMs)
      request.log.warn({ ...enrollment, host_identifier: hostIdentifier }, 'enrollment refused')
      throw toRefusal(enrollment)
    }
    enrollments.count(source, nowMs)
    deps.nodes.invalidate(enrollment.deviceId)
    deps.contacts.recordContact(enrollment.deviceId, nowMs, request.ip)
    void reply.header('content-type', 'application/json; charset=utf-8')
    return JSON.stringify({ node_key: enrollment.nodeKey })
  }
}

function isAudited({ kind }: Enrollment): boolean {
  return kind === 'cloned_identifier' || kind === 'missing_hardware'
}

/** Agents whose requests carry their node key in the header show it there. */
function withHeaderKey(request: FastifyRequest, enrollment: EnrollmentRequest): EnrollmentRequest {
  const nodeKey = parseAuthorization(request.headers.authorization) ?? enrollment.nodeKey
  return { ...enrollment, nodeKey }
}

function tooMany(what: string): AppError {
  const message = `Too many ${what}; wait a minute.`
  const options = { retryAfterSeconds: RETRY_AFTER_SECONDS }
  return new AppError('rate_limited', message, options)
}

function toRefusal(enrollment: Exclude<Enrollment, { kind: 'enrolled' }>): AppError {
  switch (enrollment.kind) {
    case 'unknown_secret':
      return new AppError(
        'unauthenticated',
        'The enrollment secret is unknown, expired, revoked or used up.',
      )
    case 'unsupported_platform':
      return new AppError(
        'invalid_body',
        'The platform of this host is not supported: devices run macOS, Windows or Linux. FreeBSD has no built-in checks.',
      )
    case 'agent_disabled':
      return new AppError('conflict', 'An admin has disabled the agent of this device.', {
        kind: 'forbidden',
      })
    case 'removed_host':
      return new AppError(
        'conflict',
        'The device of this host was deleted; it takes a newer enrollment secret, or an admin, to let it in again.',
        { kind: 'forbidden' },
      )
    case 'cloned_identifier':
      return new AppError(
        'conflict',
        'Another machine goes by this host identifier; give each its own (--host_identifier).',
      )
    case 'missing_hardware':
      return new AppError(
        'conflict',
        'The device of this host identifier is known with its serial or hardware UUID, which system_info leaves out; run osquery with administrator rights.',
      )
    case 'approval_needed':
      return new AppError(
        'conflict',
        'A device with this host identifier or hardware is enrolled and in use; an admin has to approve that this machine takes its place.',
        { kind: 'forbidden' },
      )
  }
}
