import type { Foundation, ServicePart } from '../../changes/foundation.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import { startRepeating } from '../../platform/jobs/periodic-job.ts'
import type { RunningJob } from '../../platform/jobs/running-job.ts'
import { followOrigin } from './follow-origin.ts'

/** A server that has just taken over does not take writes at once. */
const RETRY_MS = SECOND_MS

/** Looks where the database is whenever the connection to it was lost: a failover never keeps one. */
export function createOriginPart(foundation: Foundation): ServicePart {
  let following: RunningJob | undefined
  let isFollowing = false
  async function follow(): Promise<number> {
    try {
      if (isFollowing) await followOrigin(foundation)
      isFollowing = false
    } catch (error) {
      foundation.log.debug({ err: error }, 'where the database is could not be read')
    }
    return RETRY_MS
  }
  return {
    name: 'database origin',
    roles: ['worker'],
    onReconnect: () => {
      isFollowing = true
    },
    start: async () => {
      following = startRepeating(follow, RETRY_MS)
    },
    stop: async () => following?.stop(),
  }
}
