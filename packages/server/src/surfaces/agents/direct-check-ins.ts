/*
 * Check-ins of devices that are known and have nothing to do: nearly all requests of a fleet. They are answered from
 * memory and before the router; one that is anything else goes its usual way, through the handlers.
 */
import type { ServerResponse } from 'node:http'
import { runAs } from '../../platform/db/pool-turns.ts'
import type { DirectRoute } from '../../platform/http/direct-routes.ts'
import type { NodeState } from '../../posture/osquery/node-cache.ts'
import type { AgentDependencies } from './agent-handler.ts'
import type { ReadAnswerer } from './answer-read.ts'
import { parseAgentBody, parseNodeKey } from './parse-agent-message.ts'

/** What answers the usual requests for work and for the configuration. */
export type DirectCheckIns = Readonly<Record<'config' | 'read', DirectRoute>>

interface Answers {
  readonly configTextOf: (state: NodeState) => string
  readonly reads: Omit<ReadAnswerer, 'answer'>
}

/** Creates the direct routes of check-ins. */
export function createDirectCheckIns(
  deps: Pick<AgentDependencies, 'clock' | 'contacts' | 'nodes'> & {
    readonly reads: AgentDependencies['reads']
  },
  { configTextOf, reads }: Answers,
): DirectCheckIns {
  /** The device behind a body, if it is known. */
  function findState(body: Buffer): NodeState | undefined {
    const nodeKey = parseNodeKey(parseAgentBody(body))
    return nodeKey === undefined ? undefined : deps.nodes.peek(nodeKey)
  }

  async function hold(state: NodeState, response: ServerResponse): Promise<string> {
    const read = deps.reads.begin(state.deviceId)
    if (read === undefined) return reads.idleAnswer(state, deps.clock.now().getTime())
    const end = () => read.end()
    response.once('close', end)
    try {
      return await runAs('devices', () => reads.hold(state, read))
    } finally {
      end()
    }
  }

  return {
    config: {
      answer(body, { address }) {
        const state = findState(body)
        if (state === undefined || address === undefined) return undefined
        deps.contacts.recordContact(state.deviceId, deps.clock.now().getTime(), address)
        return configTextOf(state)
      },
    },
    read: {
      answer(body, { address, response }) {
        const state = findState(body)
        if (state === undefined || address === undefined) return undefined
        const nowMs = deps.clock.now().getTime()
        if (!reads.isIdle(state, nowMs)) return undefined
        deps.contacts.recordContact(state.deviceId, nowMs, address)
        return reads.holdMs(state) > 0 ? hold(state, response) : reads.idleAnswer(state, nowMs)
      },
    },
  }
}
