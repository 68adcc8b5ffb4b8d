import { toAgentConfig } from '../../posture/osquery/agent-config.ts'
import type { NodeState } from '../../posture/osquery/node-cache.ts'
import type { AgentDependencies } from './agent-handler.ts'
import { isAwaited } from './is-awaited.ts'

/**
 * Creates the function that answers the configuration of a device as text. There are two: that of devices for which
 * somebody waits, or may do so, has them come back sooner.
 */
export function createConfigTexts({
  hurried,
  reporting,
  settings,
}: Pick<AgentDependencies, 'hurried' | 'reporting' | 'settings'>): (state: NodeState) => string {
  let known:
    { readonly schedule: object; readonly usual: string; readonly soon: string } | undefined
  return (state) => {
    const schedule = reporting.schedule()
    if (known?.schedule !== schedule) {
      known = {
        schedule,
        usual: toAgentConfig(settings, schedule),
        soon: toAgentConfig({ ...settings, ...settings.hurried }, schedule),
      }
    }
    return isAwaited(state, hurried) ? known.soon : known.usual
  }
}
