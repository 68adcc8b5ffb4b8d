/** Fetches the configuration and hands what changed to the parts that follow it. */
import { SECOND_MS } from './agent-context.ts'
import type { AgentContext } from './agent-context.ts'
import type { JsonObject } from './failure-contract.ts'
import { hashSql } from './node-options.ts'
import { readRemoteOptions } from './remote-options.ts'
import type { AgentRequester } from './tls-request.ts'

const CONFIG_BYTES_MAX = 1024 * 1024

export interface ConfigRefresher {
  /** Fetches once; resolves to whether that succeeded. */
  fetch(): Promise<boolean>
  /** Fetches again every `configRefreshSeconds` until the run of the agent is over. */
  keepFresh(isFirstFetchOk: boolean): Promise<void>
}

/**
 * Makes the refresher of one agent. A configuration over 1 MiB is refused, an unchanged one is not
 * applied again, and after a failed refresh the accelerated interval counts until one succeeds.
 */
export function createConfigRefresher(
  context: AgentContext,
  requester: AgentRequester,
  onChange: (config: JsonObject) => void,
): ConfigRefresher {
  let appliedHash = ''

  function apply(text: string, config: JsonObject): void {
    const hash = hashSql(text)
    if (hash === appliedHash) return
    appliedHash = hash
    context.counters.configChanges += 1
    const { changes, warnings } = readRemoteOptions(config)
    context.setFlags(changes)
    for (const warning of warnings) context.logStatus(1, warning)
    onChange(config)
  }

  async function fetch(): Promise<boolean> {
    context.counters.configFetches += 1
    const result = await requester.sendWithAttempts({
      path: context.flags().paths.config,
      renderBody: (nodeKey) => JSON.stringify({ node_key: nodeKey }),
    })
    if (context.lifetime.isOver() || result.outcome !== 'success') return false
    if (Buffer.byteLength(result.text) > CONFIG_BYTES_MAX) {
      context.logStatus(2, 'Error updating config: config source exceeds the maximum size')
      return false
    }
    apply(result.text, result.body)
    return true
  }

  return {
    fetch,
    async keepFresh(isFirstFetchOk) {
      let isOk = isFirstFetchOk
      while (context.flags().configRefreshSeconds > 0) {
        const { configRefreshSeconds, configAcceleratedRefreshSeconds } = context.flags()
        const seconds = isOk ? configRefreshSeconds : configAcceleratedRefreshSeconds
        if (!(await context.lifetime.sleep(seconds * SECOND_MS))) return
        isOk = await fetch()
      }
    },
  }
}
