import { gzipSync } from 'node:zlib'
import { SECOND_MS } from './agent-context.ts'
import type { AgentContext } from './agent-context.ts'
import type { Enrollment } from './enrollment.ts'
import { judgeResponse } from './failure-contract.ts'
import type { ResponseVerdict } from './failure-contract.ts'

/** A request of an enrolled agent. */
interface AgentRequest {
  readonly path: string
  /** The JSON body for the node key that is current when the request is sent. */
  readonly renderBody: (nodeKey: string) => string
  readonly isCompressed?: boolean
  /** Whether the server may hold the answer back. */
  readonly mayBeHeld?: boolean
}

/** The verdict together with the text it was passed on. */
type RequestResult = ResponseVerdict & { readonly text: string }

/** Sends requests with the node key and applies the failure contract to the answers. */
export interface AgentRequester {
  send(request: AgentRequest): Promise<RequestResult>
  /** As `send`, up to `tlsAttemptsMax` times, waiting n squared seconds after attempt n. */
  sendWithAttempts(request: AgentRequest): Promise<RequestResult>
}

function failed(reason: string): RequestResult {
  return { outcome: 'failed', reason, text: '' }
}

/**
 * Makes the requester of one agent. A node that is told `node_invalid` forgets its key, so that the
 * next request enrolls again.
 */
export function createAgentRequester(
  context: AgentContext,
  enrollment: Enrollment,
): AgentRequester {
  function renderHeaders(nodeKey: string, isCompressed: boolean): Record<string, string> {
    const { agentVersion, quirks } = context.flags()
    return {
      'content-type': 'application/json',
      accept: 'application/json',
      'user-agent': `osquery/${agentVersion}`,
      ...(quirks.sendsAuthorizationHeader ? { authorization: `NodeKey ${nodeKey}` } : {}),
      ...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
    }
  }

  function forgetKey(nodeKey: string): void {
    context.counters.nodeInvalid += 1
    if (context.flags().isReenrollmentDisabled || context.state.nodeKey !== nodeKey) return
    context.state.nodeKey = undefined
  }

  async function send(request: AgentRequest): Promise<RequestResult> {
    const nodeKey = await enrollment.ensureNodeKey()
    if (nodeKey === undefined) return failed('no node key')
    const isCompressed = request.isCompressed === true
    const body = request.renderBody(nodeKey)
    context.counters.requests += 1
    const answer = await context.transport.post({
      path: request.path,
      body: isCompressed ? gzipSync(body) : body,
      headers: renderHeaders(nodeKey, isCompressed),
      mayBeHeld: request.mayBeHeld === true,
    })
    if (answer.kind === 'unreachable') {
      context.counters.unreachable += 1
      context.counters.failures += 1
      return failed(answer.reason)
    }
    const verdict = judgeResponse(answer.text)
    context.counters[verdict.outcome === 'success' ? 'successes' : 'failures'] += 1
    if (verdict.outcome === 'node-invalid') forgetKey(nodeKey)
    return { ...verdict, text: answer.text }
  }

  return {
    send,
    async sendWithAttempts(request) {
      const attemptsMax = Math.max(1, context.flags().tlsAttemptsMax)
      let result = await send(request)
      for (let attempt = 1; attempt < attemptsMax && result.outcome !== 'success'; attempt += 1) {
        if (!(await context.lifetime.sleep(attempt * attempt * SECOND_MS))) break
        result = await send(request)
      }
      return result
    },
  }
}
