/*
 * What agents are told when something is wrong. osquery never looks at the status code: a body without
 * `error` counts as delivered and makes it delete its logs, and `node_invalid` makes it enroll again.
 * So every failure here is a JSON object with a text in `error`, and only the absence of a live node
 * key says `node_invalid`.
 */
import type { FastifyReply } from 'fastify'
import { AppError } from '../../platform/app-error.ts'
import {
  sendErrorAnswer,
  statusOfError,
  type ErrorAnswer,
  type SurfaceErrors,
} from '../../platform/http/error-response.ts'

/** The refusal of a node key that is unknown or revoked; the agent enrolls again. */
export class NodeInvalidError extends AppError {
  constructor(message: string) {
    super('unauthenticated', message)
    this.name = 'NodeInvalidError'
  }
}

/** How agents are told failures: so that none of them takes one for a success. */
export const AGENT_ERRORS: SurfaceErrors = { toAnswer: toAgentAnswer }

/** Answers a refusal outside of the handlers. */
export function sendAgentError(reply: FastifyReply, refusal: AppError): FastifyReply {
  return sendErrorAnswer(reply, toAgentAnswer(refusal))
}

function toAgentAnswer(refusal: AppError | undefined): ErrorAnswer {
  const seconds = refusal?.retryAfterSeconds
  return {
    status: refusal === undefined ? 500 : statusForAgent(refusal),
    headers: seconds === undefined ? {} : { 'retry-after': String(seconds) },
    body: {
      error: refusal?.message ?? 'An unexpected fault occurred; send it again later.',
      code: refusal?.code ?? 'internal',
      ...(refusal instanceof NodeInvalidError ? { node_invalid: true } : {}),
    },
  }
}

/** An agent knows no difference between a body that cannot be read and one that makes no sense. */
function statusForAgent(refusal: AppError): number {
  return refusal.kind === 'invalid' ? 400 : statusOfError(refusal)
}
