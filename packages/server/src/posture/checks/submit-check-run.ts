/*
 * What other systems report of a device or a person. Owns which reports are taken; what follows from
 * one is the same as from an answer of a device.
 */
import type { Change } from '../../changes/change.ts'
import { findPersonByAnyEmail, findPerson, type Person } from '../../people/people/person-store.ts'
import { AppError, notFound, conflict } from '../../platform/app-error.ts'
import { isId } from '../../platform/ids.ts'
import { findCheckForShare, type PostureCheck } from './catalogue-store.ts'
import type { CheckRowStatus } from './check-definition.ts'
import { parseCheckResult, type CheckOutcome } from './parse-check-result.ts'
import { recordCheckResults } from './record-check-results.ts'
import { recordPersonCheckRun } from './record-person-check-run.ts'

/** Whom a report is about, by the member of the request that says so. */
export type CheckRunSubject =
  | { readonly by: 'device_id'; readonly value: string }
  | { readonly by: 'person_id'; readonly value: string }
  | { readonly by: 'person_email'; readonly value: string }

export interface CheckRunInput {
  readonly checkId: string
  readonly subject: CheckRunSubject
  /** One or more rows, each with its verdict. */
  readonly rows: readonly unknown[]
}

/** A report that was taken. */
export interface SubmittedCheckRun {
  readonly checkId: string
  readonly status: CheckRowStatus
  readonly deviceId: string | null
  readonly person: Pick<Person, 'id' | 'name' | 'email'> | null
}

/**
 * Records a run of an external check on a device or a person as of now, with everything that follows.
 *
 * @throws AppError `not_found` without the check, the device or the person; `conflict` for a check that
 * is not external, is paused or is not aimed at the device; `invalid_body` for a person where the check
 * targets devices, and the other way round
 */
export async function submitCheckRun(
  change: Change,
  input: CheckRunInput,
): Promise<SubmittedCheckRun> {
  const { subject } = input
  const check = isId(input.checkId) ? await findCheckForShare(change.tx, input.checkId) : undefined
  if (check === undefined) throw notFound('check', input.checkId)
  assertRunnable(check, subject)
  const answer = { rows: input.rows, statusCode: 0, message: '' }
  const parsed = parseCheckResult(answer, check.primaryKeyColumn)
  const status = STATUS_WORDS[parsed.status]
  if (subject.by === 'device_id') {
    await recordDeviceRun(change, check, { deviceId: subject.value, rows: input.rows })
    recordAudit(change, check, status, { type: 'device', id: subject.value })
    return { checkId: check.id, status, deviceId: subject.value, person: null }
  }
  const person = await getSubjectPerson(change, subject)
  await recordPersonCheckRun(change, check, { personId: person.id, parsed })
  recordAudit(change, check, status, { type: 'person', id: person.id })
  return { checkId: check.id, status, deviceId: null, person }
}

const STATUS_WORDS: Readonly<Record<CheckOutcome, CheckRowStatus>> = {
  passing: 'PASS',
  failing: 'FAIL',
  errored: 'ERROR',
  unknown: 'UNKNOWN',
  inapplicable: 'INAPPLICABLE',
}

function assertRunnable(check: PostureCheck, subject: CheckRunSubject): void {
  if (check.type !== 'external') {
    throw conflict(`Devices run the check ${check.name} themselves.`)
  }
  if (check.pausedAt !== null) {
    throw conflict(`The check ${check.name} is paused.`)
  }
  const target = subject.by === 'device_id' ? 'devices' : 'people'
  if (check.targetType === target) return
  const message = `The check ${check.name} targets ${check.targetType}.`
  const details = [{ path: subject.by, message }]
  throw new AppError('invalid_body', message, { details })
}

async function recordDeviceRun(
  change: Change,
  check: PostureCheck,
  run: { readonly deviceId: string; readonly rows: readonly unknown[] },
): Promise<void> {
  const { deviceId, rows } = run
  if (!isId(deviceId)) throw notFound('device', deviceId)
  const recorded = await recordCheckResults(change, {
    deviceId,
    results: [{ checkId: check.id, revision: null, rows, statusCode: 0, message: '' }],
  })
  if (recorded.kind === 'unknown_device') throw notFound('device', deviceId)
  if (recorded.acceptedCheckIds.length === 0) {
    throw conflict(`The check ${check.name} is not aimed at the device ${deviceId}.`)
  }
}

async function getSubjectPerson(
  change: Change,
  subject: Exclude<CheckRunSubject, { by: 'device_id' }>,
): Promise<Person> {
  const person = await findSubjectPerson(change, subject)
  if (person === undefined || person.deprovisionedAt !== null) {
    throw notFound('person', subject.value)
  }
  return person
}

async function findSubjectPerson(
  { tx }: Change,
  { by, value }: Exclude<CheckRunSubject, { by: 'device_id' }>,
): Promise<Person | undefined> {
  if (by === 'person_email') return findPersonByAnyEmail(tx, value)
  return isId(value) ? findPerson(tx, value) : undefined
}

function recordAudit(
  change: Change,
  check: PostureCheck,
  status: CheckRowStatus,
  target: { readonly type: 'device' | 'person'; readonly id: string },
): void {
  change.recordAudit({
    action: 'check.run_submitted',
    target,
    description: `submitted a run of ${check.name} on a ${target.type}: ${status}`,
    after: { check_id: check.id, status },
  })
}
