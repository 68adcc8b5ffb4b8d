import { toAgentConfig } from '../../posture/osquery/agent-config.ts'
import type { AgentDependencies } from './agent-handler.ts'

/**
 * Creates the function that answers the configuration of a device as text. There are two: that of devices for which
 * somebody waits has them come back sooner.
 */
export function createConfigTexts({
  hurried,
  reporting,
  settings,
}: Pick<AgentDependencies, 'hurried' | 'reporting' | 'settings'>): (deviceId: string) => string {
  let known:
    { readonly schedule: object; readonly usual: string; readonly soon: string } | undefined
  return (deviceId) => {
    const schedule = reporting.schedule()
    if (known?.schedule !== schedule) {
      known = {
        schedule,
        usual: toAgentConfig(settings, schedule),
        soon: toAgentConfig({ ...settings, ...settings.hurried }, schedule),
      }
    }
    return hurried.isHurried(deviceId) ? known.soon : known.usual
  }
}
