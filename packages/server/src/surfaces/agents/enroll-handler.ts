import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { AppError } from '../../platform/app-error.ts'
import type { AgentDependencies, AgentHandler } from './agent-handler.ts'
import { enrollDevice, type Enrollment } from '../../posture/osquery/enroll-device.ts'
import { parseAgentBody, parseEnrollment } from './parse-agent-message.ts'
import { readAgentBody } from './read-agent-body.ts'
import { hasLiveSecret } from '../../posture/osquery/enrollment-store.ts'
import { hashEnrollmentSecret } from '../../posture/enrollment/secrets/create-enrollment-secret.ts'
import { createWindowLimiter } from '../../posture/osquery/window-limiter.ts'
import type { UnprovenSenders } from './unproven-senders.ts'

const RETRY_AFTER_SECONDS = 60

/**
 * The handler of `/osquery/enroll`. A host identifier that enrolls too often has to wait, and so has an
 * address that fails too often, but only with what fails: behind it may stand a whole office. Both are
 * counted in this process.
 */
export function createEnrollHandler(
  deps: AgentDependencies,
  senders: UnprovenSenders,
): AgentHandler {
  const { settings } = deps
  const enrollments = createWindowLimiter(settings.enrollmentsPerHostPerMinute)

  return async (request, reply) => {
    const nowMs = deps.clock.now().getTime()
    const body = await readAgentBody(request.raw, settings.bodyBytesMax.enroll)
    const enrollmentRequest = parseEnrollment(parseAgentBody(body))
    const { hostIdentifier } = enrollmentRequest
    if (enrollments.isExhausted(hostIdentifier, nowMs)) {
      throw tooMany('enrollments under one host identifier')
    }
    const origin = { actor: SYSTEM_ACTOR, requestId: request.id, ipAddress: request.ip }
    // One look-up first: whoever guesses secrets gets no transaction and no lock.
    const secretHash = hashEnrollmentSecret(enrollmentRequest.secret)
    const enrollment: Enrollment = (await hasLiveSecret(deps.db, secretHash, deps.clock.now()))
      ? await deps.runChange(origin, (change) => enrollDevice(change, enrollmentRequest))
      : { kind: 'unknown_secret' }
    if (enrollment.kind !== 'enrolled') {
      if (senders.isSuspect(request.ip, nowMs)) throw tooMany('refused enrollments of one address')
      senders.countFailure(request.ip, nowMs)
      request.log.warn({ ...enrollment, host_identifier: hostIdentifier }, 'enrollment refused')
      throw toRefusal(enrollment)
    }
    enrollments.count(hostIdentifier, nowMs)
    deps.nodes.invalidate(enrollment.deviceId)
    deps.contacts.recordSecretUse(enrollment.secretId, deps.clock.now())
    deps.contacts.recordContact(enrollment.deviceId, nowMs, request.ip)
    void reply.header('content-type', 'application/json; charset=utf-8')
    return JSON.stringify({ node_key: enrollment.nodeKey })
  }
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
        'The enrollment secret is unknown, expired or revoked.',
      )
    case 'unsupported_platform':
      return new AppError('invalid_body', 'The platform of this host is not supported.')
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
  }
}
