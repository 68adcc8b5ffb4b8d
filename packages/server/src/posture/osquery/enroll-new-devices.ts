/* Machines that are let in become devices: their rows, unless somebody else was first or their hosts are kept out. */
import type { Change } from '../../changes/change.ts'
import { deleteDeviceRow } from '../devices/device-deletion-store.ts'
import type { Device } from '../devices/device-store.ts'
import { deleteRemovedHost, listRemovedHosts } from '../devices/removed-host-store.ts'
import type { Admitted } from './admit-candidate.ts'
import type { Candidate, EnrolledCandidate, RefusedEnrollment } from './enrollment.ts'
import { toEnrollmentColumns } from './enrollment-columns.ts'
import { insertDevices, type EnrolledDevice, type LiveSecret } from './enrollment-store.ts'
import { recordEnrollment } from './record-enrollment.ts'

/** A candidate that may become a new device. */
export interface AdmittedCandidate {
  readonly candidate: Candidate
  readonly admission: Admitted
}

export interface CreatedDevices {
  readonly enrolled: readonly EnrolledCandidate[]
  readonly refused: ReadonlyMap<Candidate, RefusedEnrollment>
}

/**
 * Makes devices of candidates, of which no two have one host identifier. Neither enrolled nor refused is one under
 * whose host identifier somebody else was first.
 */
export async function enrollNew(
  { tx }: Change,
  admitted: readonly AdmittedCandidate[],
): Promise<CreatedDevices> {
  if (admitted.length === 0) return { enrolled: [], refused: new Map() }
  const prepared = admitted.map(prepare)
  const inserted = await insertDevices(
    tx,
    prepared.map(({ row }) => row),
  )
  const deviceByHost = new Map(inserted.map((device) => [device.hostIdentifier, device]))
  const keptOut = await listKeptOut(tx, inserted, prepared)
  const enrolled: EnrolledCandidate[] = []
  const refused = new Map<Candidate, RefusedEnrollment>()
  for (const { admission, candidate, nodeKey, row } of prepared) {
    const device = deviceByHost.get(row.hostIdentifier)
    if (device === undefined) continue
    if (keptOut.has(device.id)) refused.set(candidate, { kind: 'removed_host' })
    else {
      const { arrival, details, secret } = candidate
      recordEnrollment(arrival.change, device, { secret, again: undefined })
      const hardware = details
      enrolled.push({ candidate, device, nodeKey, admission, hardware, isCounted: true })
    }
  }
  return { enrolled, refused }
}

interface PreparedDevice extends AdmittedCandidate {
  readonly nodeKey: string
  readonly row: EnrolledDevice
}

function prepare({ admission, candidate }: AdmittedCandidate): PreparedDevice {
  const { arrival, details, secret } = candidate
  const { at } = arrival.change
  const { nodeKey, columns } = toEnrollmentColumns(arrival.change, secret)
  const row = {
    ...details,
    ...columns,
    hostIdentifier: arrival.attempt.request.hostIdentifier,
    ownerPersonId: secret.personId,
    registeredAt: secret.personId === null ? null : at,
    createdAt: at,
  }
  return { admission, candidate, nodeKey, row }
}

/**
 * The devices whose host is kept out, whose rows are gone then. Looks at the hosts only now: while the rows were
 * inserted, the deletion of a predecessor may have been committed. A newer secret lets a host in again.
 */
async function listKeptOut(
  tx: Change['tx'],
  inserted: readonly Device[],
  prepared: readonly PreparedDevice[],
): Promise<Set<string>> {
  const secretByHost = new Map<string, LiveSecret>(
    prepared.map(({ candidate, row }) => [row.hostIdentifier, candidate.secret]),
  )
  const hosts = await listRemovedHosts(
    tx,
    inserted.map(({ hostIdentifier }) => hostIdentifier),
  )
  const removedAtByHost = new Map(hosts.map((host) => [host.hostIdentifier, host.removedAt]))
  const keptOut = new Set<string>()
  for (const { hostIdentifier, id } of inserted) {
    const removedAt = removedAtByHost.get(hostIdentifier)
    const secret = secretByHost.get(hostIdentifier)
    if (removedAt === undefined || secret === undefined) continue
    if (secret.createdAt <= removedAt) {
      await deleteDeviceRow(tx, id)
      keptOut.add(id)
    } else await deleteRemovedHost(tx, hostIdentifier)
  }
  return keptOut
}
