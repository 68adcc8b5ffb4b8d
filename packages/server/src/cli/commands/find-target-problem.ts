import type { Config } from '../../app/config/load-config.ts'
import { checkTargetUrl, parseAllowedTargets } from '../../platform/net/target-policy.ts'

/** Says why an address cannot be asked by the service with this configuration; undefined when it can. */
export function findTargetProblemBy({ allowedTargets }: Pick<Config, 'allowedTargets'>) {
  const targets = parseAllowedTargets(allowedTargets)
  return (url: string): string | undefined => {
    if (!targets.ok) return targets.reason
    const check = checkTargetUrl(url, targets.policy)
    return check.ok ? undefined : check.reason
  }
}
