import type { Change } from '../../changes/change.ts'
import { AppError } from '../../platform/app-error.ts'
import { deleteRemovedHost, type RemovedHost } from './removed-host-store.ts'

/**
 * Lets a host whose device was deleted enroll again with the secret that it has.
 *
 * @throws AppError `not_found` for a host that is not kept out
 */
export async function readmitHost(change: Change, hostIdentifier: string): Promise<RemovedHost> {
  const host = await deleteRemovedHost(change.tx, hostIdentifier)
  if (host === undefined) {
    const message = `No deleted device had the host identifier ${hostIdentifier.slice(0, 200)}.`
    throw new AppError('not_found', message)
  }
  change.recordAudit({
    action: 'device.readmitted',
    target: { type: 'host', id: host.hostIdentifier },
    description: `lets the host ${host.hostIdentifier} (${host.deviceName}) enroll again`,
  })
  return host
}
