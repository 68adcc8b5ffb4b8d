/*
 * What agents are told when something is wrong. osquery never looks at the status code: a body without
 * `error` counts as delivered and makes it delete its logs, and `node_invalid` makes it enroll again.
 * So every failure here is a JSON object with a text in `error`, and only the absence of a live node
 * key says `node_invalid`.
 */
import type { FastifyReply } from 'fastify'
import { AppError } from '../../platform/app-error.ts'
import type { ErrorKind } from '../../platform/error-codes.ts'
import {
  sendErrorAnswer,
  STATUS_OF_KIND,
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

/** An agent knows no difference between a body that cannot be read and one that makes no sense. */
const AGENT_STATUS_OF_KIND: Readonly<Record<ErrorKind, number>> = {
  ...STATUS_OF_KIND,
  invalid: 400,
}

/** How agents are told failures: so that none of them takes one for a success. */
export const AGENT_ERRORS: SurfaceErrors = { toAnswer: toAgentAnswer }

/** Answers a refusal outside of the handlers. */
export function sendAgentError(
  reply: FastifyReply,
  refusal: AppError,
  status?: number,
): FastifyReply {
  return sendErrorAnswer(reply, toAgentAnswer(refusal, undefined, status))
}

function toAgentAnswer(
  refusal: AppError | undefined,
  _requestId?: string,
  status = refusal === undefined ? 500 : AGENT_STATUS_OF_KIND[refusal.kind],
): ErrorAnswer {
  const seconds = refusal?.retryAfterSeconds
  return {
    status,
    headers: seconds === undefined ? {} : { 'retry-after': String(seconds) },
    body: {
      error: refusal?.message ?? 'An unexpected fault occurred; send it again later.',
      code: refusal?.code ?? 'internal',
      ...(refusal instanceof NodeInvalidError ? { node_invalid: true } : {}),
    },
  }
}
