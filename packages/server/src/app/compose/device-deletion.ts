import { deleteDueDevices } from '../../posture/devices/delete-due-devices.ts'
import { DEVICE_DELETION_CHANNEL } from '../../posture/devices/device-deletion-store.ts'
import type { Listener } from '../../platform/db/listener.ts'
import { startDueJob, type DueJob } from '../../platform/jobs/due-job.ts'
import type { Services } from '../services.ts'

/** Deletes devices when their time has come, which any process may have set. */
export function startDeviceDeletion(services: Services, listener: Listener): DueJob {
  const { clock, db, log, runChange } = services
  const logError = (error: unknown, message: string) => log.error({ err: error }, message)
  const job = startDueJob({
    name: 'device deletion',
    clock,
    run: () => deleteDueDevices({ db, runChange, logError }),
    logError,
  })
  listener.subscribe(DEVICE_DELETION_CHANNEL, (payload) => job.wake(new Date(payload)))
  return job
}
