import type { Change } from '../../changes/change.ts'
import { spendFirstDeviceTrust } from '../../people/people/person-store.ts'
import { applyCheckScope } from '../checks/apply-check-scope.ts'
import { settleHardwareDuplicates } from '../devices/settle-hardware-duplicates.ts'
import { completeRequest } from '../enrollment/reenrollment/admit-machine.ts'
import { countSecretUses } from '../enrollment/secrets/count-secret-use.ts'
import type { Candidate, EnrolledCandidate } from './enrollment.ts'

const ENROLLED = { initiatingEntity: 'system', reason: 'The device enrolled.' } as const

/**
 * What follows from enrollments, of new devices and of known ones: what their owners have spent, what was asked for
 * them, which hardware is there twice, their checks, and the uses of their secrets. The secret of what was `held` for
 * an approval is used too.
 */
export async function settleEnrollments(
  change: Change,
  enrolled: readonly EnrolledCandidate[],
  held: readonly Candidate[],
): Promise<void> {
  const { at, tx } = change
  const ownerIds = enrolled.flatMap(({ candidate, device }) => {
    const { personId } = candidate.secret
    return personId !== null && device.ownerPersonId === personId ? [personId] : []
  })
  await spendFirstDeviceTrust(tx, ownerIds, at)
  for (const { admission, candidate } of enrolled) {
    if (admission.request === undefined) continue
    await completeRequest(candidate.arrival.change, admission.request)
  }
  await settleHardwareDuplicates(
    change,
    enrolled.map(({ candidate, hardware }) => {
      const { serial, hardwareUuid } = hardware
      return { serial, hardwareUuid, change: candidate.arrival.change }
    }),
  )
  if (enrolled.length > 0) await applyToChecks(change, enrolled)
  await countSecretUses(change, [
    ...enrolled.filter(({ isCounted }) => isCounted).map(({ candidate }) => toUse(candidate, true)),
    ...held.map((candidate) => toUse(candidate, false)),
  ])
}

async function applyToChecks(
  change: Change,
  enrolled: readonly EnrolledCandidate[],
): Promise<void> {
  const parts = new Map(
    enrolled.map(({ candidate, device }) => [device.id, candidate.arrival.change]),
  )
  await applyCheckScope(change.divide(parts), { deviceIds: [...parts.keys()] }, ENROLLED)
}

function toUse({ arrival, secret }: Candidate, isEnrollment: boolean) {
  return { secretId: secret.id, isEnrollment, change: arrival.change }
}
