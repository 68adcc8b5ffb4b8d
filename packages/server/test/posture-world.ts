/* A small organisation in a database of its own, and how each operation changes it for real. */
import type { Kysely } from 'kysely'
import { submitCheckRun } from '../src/posture/checks/submit-check-run.ts'
import { configureCheck } from '../src/posture/checks/configuration/configure-check.ts'
import {
  addDevicesToGroup,
  removeDeviceFromGroup,
} from '../src/posture/device-groups/change-memberships.ts'
import { cancelDeviceDeletion } from '../src/posture/devices/cancel-device-deletion.ts'
import { deleteDueDevices } from '../src/posture/devices/delete-due-devices.ts'
import { createRegistrationRequest } from '../src/posture/devices/registration-requests/create-registration-request.ts'
import { decideRegistrationRequest } from '../src/posture/devices/registration-requests/decide-registration-request.ts'
import { requestDeviceDeletion } from '../src/posture/devices/request-device-deletion.ts'
import { setDeviceOwner } from '../src/posture/devices/set-device-owner.ts'
import { settleDueDevices } from '../src/posture/devices/settle-due-devices.ts'
import { unregisterDevice } from '../src/posture/devices/unregister-device.ts'
import { createExemptionRequest } from '../src/posture/issues/exemptions/create-exemption-request.ts'
import {
  decideExemptionRequest,
  type ExemptionDecision,
} from '../src/posture/issues/exemptions/decide-exemption-request.ts'
import { changeCampaign, removeCampaign } from '../src/posture/live-queries/change-campaign.ts'
import { createCampaign } from '../src/posture/live-queries/create-campaign.ts'
import { recordLiveAnswers } from '../src/posture/live-queries/record-live-answers.ts'
import { AppError } from '../src/platform/app-error.ts'
import type { Schema } from '../src/schema/schema.ts'
import { CHECKS, DEVICES, GROUPS, PEOPLE, type Operation } from './posture-operations.ts'
import { insertDeviceGroup, insertPerson } from './support/factories.ts'
import { createPosture, type Posture } from './support/posture-fixtures.ts'
import { emptyTables } from './support/empty-tables.ts'

const HOUR_MS = 3_600_000

export interface PostureWorld {
  readonly posture: Posture
  readonly checks: readonly string[]
  readonly deviceCheck: string
  readonly personCheck: string
  readonly groups: readonly string[]
  readonly people: readonly string[]
  /** By their place; a device that is deleted is replaced by a new one. */
  readonly devices: string[]
}

/** Empties the database and begins anew. Checks differ in what they do to a device and to whom. */
export async function createPostureWorld(db: Kysely<Schema>): Promise<PostureWorld> {
  await emptyTables(
    db,
    'device',
    'posture_check',
    'device_group',
    'person',
    'removed_host',
    'live_query_campaign',
  )
  const posture = createPosture(db)
  const groups = await times(GROUPS, () => insertDeviceGroup(db))
  const checks = await times(CHECKS, (place) =>
    posture.insertCheck({
      primary_key_column: place % 2 === 0 ? null : 'path',
      remediation_strategy: place === 2 ? 'warn_then_block' : 'block_immediately',
      grace_period_days: place === 2 ? 1 : 0,
    }),
  )
  const rules = [
    { check_id: checks[0] ?? '', rule: 'targeted' as const, device_group_id: groups[0] ?? '' },
    { check_id: checks[1] ?? '', rule: 'excluded' as const, device_group_id: groups[1] ?? '' },
  ]
  await db.insertInto('check_group_rule').values(rules).execute()
  const external = { type: 'external' as const }
  return {
    posture,
    checks,
    deviceCheck: await posture.insertCheck(external),
    personCheck: await posture.insertCheck({ ...external, target_type: 'people' }),
    groups,
    people: await times(PEOPLE, (place) => insertPerson(db, { email: `${place}@example.com` })),
    devices: await times(DEVICES, () => insertAgent(posture)),
  }
}

/** A device that live queries are put to. */
function insertAgent(posture: Posture): Promise<string> {
  return posture.insertDevice({ enrolled_at: posture.clock.now() })
}

async function times<Item>(count: number, make: (place: number) => Promise<Item>): Promise<Item[]> {
  const items: Item[] = []
  for (let place = 0; place < count; place += 1) items.push(await make(place))
  return items
}

/** Lets an operation happen; whether it did. Refusals are part of the game: a device may be gone. */
export async function applyOperation(world: PostureWorld, item: Operation): Promise<boolean> {
  try {
    await perform(world, item)
    return true
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return false
  }
}

/** Lets everything happen that is due by the clock. */
export async function settleDue({ posture }: PostureWorld): Promise<void> {
  const { runChange, db } = posture
  await settleDueDevices({ db, runChange, logError: rethrow })
  await deleteDueDevices({ db, runChange, logError: rethrow })
}

function rethrow(error: unknown): never {
  throw error
}

type Performers = {
  readonly [Kind in Operation['kind']]: (
    world: PostureWorld,
    item: Extract<Operation, { kind: Kind }>,
  ) => Promise<unknown>
}

function perform(world: PostureWorld, item: Operation): Promise<unknown> {
  // One of the members fits the operation; the compiler does not see that it is this one.
  const performer = PERFORMERS[item.kind] as (
    world: PostureWorld,
    item: Operation,
  ) => Promise<unknown>
  return performer(world, item)
}

const at = (ids: readonly string[], place: number): string => ids[place] ?? ''

const PERFORMERS: Performers = {
  report: ({ posture, checks, devices }, { device, results }) =>
    posture.report(
      at(devices, device),
      Object.fromEntries(
        results.map(({ check, rows }) => [
          at(checks, check),
          rows.map((status, row) => ({ KOLIDE_CHECK_STATUS: status, path: String(row) })),
        ]),
      ),
    ),
  run_on_device: ({ posture, deviceCheck, devices }, { device, status }) =>
    run(posture, deviceCheck, { by: 'device_id', value: at(devices, device) }, status),
  run_on_person: ({ posture, personCheck, people }, { person, status }) =>
    run(posture, personCheck, { by: 'person_id', value: at(people, person) }, status),
  configure: ({ posture, checks, groups }, item) => {
    const { check, paused, strategy, targeted, excluded, blockingExcluded } = item
    const toIds = (places: readonly number[]) => places.map((place) => at(groups, place))
    return posture.change((open) =>
      configureCheck(open, at(checks, check), {
        ...(paused === null ? {} : { paused }),
        ...(strategy === null ? {} : { remediation_strategy: strategy }),
        ...(targeted === null ? {} : { targeted_groups: toIds(targeted) }),
        ...(excluded === null ? {} : { excluded_groups: toIds(excluded) }),
        ...(blockingExcluded === null ? {} : { blocking_excluded_groups: toIds(blockingExcluded) }),
      }),
    )
  },
  join: ({ posture, groups, devices }, { device, group }) =>
    posture.change((open) => addDevicesToGroup(open, at(groups, group), [at(devices, device)])),
  leave: ({ posture, groups, devices }, { device, group }) =>
    posture.change((open) => removeDeviceFromGroup(open, at(groups, group), at(devices, device))),
  own: ({ posture, devices }, { device, person }) =>
    posture.change((open) =>
      setDeviceOwner(
        open,
        at(devices, device),
        person === null ? null : { email: `${person}@example.com` },
      ),
    ),
  ask_registration: ({ posture, devices, people }, { device, person }) =>
    posture.change((open) =>
      createRegistrationRequest(open, {
        deviceId: at(devices, device),
        person_id: at(people, person),
        message: 'Mine.',
      }),
    ),
  decide_registration: async ({ posture }, { recent, status }) => {
    const id = await findRecent(posture, 'registration_request', recent)
    const decision =
      status === 'approved'
        ? { status, internalMessage: null }
        : { status, internalMessage: null, endUserDenialMessage: 'No.' }
    return posture.change((open) => decideRegistrationRequest(open, id, decision))
  },
  ask_exemption: async ({ posture, devices, people }, { device, person, isForFuture }) => {
    const issues = await posture.db
      .selectFrom('issue')
      .select('id')
      .where('device_id', '=', at(devices, device))
      .where('resolved_at', 'is', null)
      .limit(2)
      .execute()
    return posture.change((open) =>
      createExemptionRequest(open, {
        person_id: at(people, person),
        issueIds: issues.map(({ id }) => id),
        message: 'Please.',
        coversFutureIssues: isForFuture,
        expiresAt: null,
      }),
    )
  },
  decide_exemption: async ({ posture }, { recent, status, hours }) => {
    const id = await findRecent(posture, 'exemption_request', recent)
    const decision = toDecision(posture, status, hours)
    return posture.change((open) => decideExemptionRequest(open, id, decision))
  },
  unregister: ({ posture, devices }, { device }) =>
    posture.change((open) => unregisterDevice(open, at(devices, device))),
  delete: async ({ posture, devices }, { device, isCancelled }) => {
    const id = at(devices, device)
    await posture.change((open) => requestDeviceDeletion(open, id, isCancelled ? 3_600 : 0))
    if (isCancelled) {
      await posture.change((open) => cancelDeviceDeletion(open, id))
    } else {
      await deleteDueDevices({ db: posture.db, runChange: posture.runChange, logError: rethrow })
      devices[device] = await insertAgent(posture)
    }
  },
  ask: ({ posture, devices }, { devices: places }) =>
    posture.change((open) =>
      createCampaign(open, {
        name: 'Question',
        sql: 'select 1',
        ...(places === null
          ? { targetAllDevices: true }
          : { targetedDeviceIds: places.map((place) => at(devices, place)) }),
      }),
    ),
  answer: async ({ posture, devices }, { device, recent, isError, isOutdated }) => {
    const campaignId = await findRecent(posture, 'live_query_campaign', recent)
    const { revision } = await posture.db
      .selectFrom('live_query_campaign')
      .select('revision')
      .where('id', '=', campaignId)
      .executeTakeFirstOrThrow()
    const answered = isOutdated ? Math.max(1, revision - 1) : revision
    return posture.change((open) =>
      recordLiveAnswers(open, { forget: () => undefined }, [
        {
          deviceId: at(devices, device),
          results: [
            {
              id: `live:${campaignId}:${answered}`,
              rows: isError ? [] : [{ '1': '1' }],
              statusCode: isError ? 1 : 0,
              message: isError ? 'no such table' : '',
            },
          ],
        },
      ]),
    )
  },
  ask_anew: async ({ posture }, { recent, isPublished }) => {
    const id = await findRecent(posture, 'live_query_campaign', recent)
    const name = posture.clock.now().toISOString()
    return posture.change((open) =>
      changeCampaign(open, id, { sql: `select '${name}'`, published: isPublished }),
    )
  },
  remove_campaign: async ({ posture }, { recent }) => {
    const id = await findRecent(posture, 'live_query_campaign', recent)
    return posture.change((open) => removeCampaign(open, id))
  },
  wait: async (world, { hours }) => {
    world.posture.clock.advance(hours * HOUR_MS)
    await settleDue(world)
  },
}

function run(
  posture: Posture,
  checkId: string,
  subject: Parameters<typeof submitCheckRun>[1]['subject'],
  status: string,
) {
  return posture.change((open) =>
    submitCheckRun(open, {
      checkId,
      subject,
      rows: [{ KOLIDE_CHECK_STATUS: status }],
    }),
  )
}

function toDecision(
  { clock }: Posture,
  status: ExemptionDecision['status'],
  hours: number | null,
): ExemptionDecision {
  const expiresAt = hours === null ? null : new Date(clock.now().getTime() + hours * HOUR_MS)
  switch (status) {
    case 'approved':
      return { status, internalMessage: 'Yes.', expiresAt }
    case 'denied':
      return { status, internalMessage: 'No.', denialExplanation: 'No.' }
    case 'open':
    case 'withdrawn':
      return { status }
  }
}

/** @throws AppError `not_found` */
async function findRecent(
  { db }: Posture,
  table: 'registration_request' | 'exemption_request' | 'live_query_campaign',
  recent: number,
): Promise<string> {
  const row = await db
    .selectFrom(table)
    .select('id')
    .orderBy('id', 'desc')
    .offset(recent)
    .limit(1)
    .executeTakeFirst()
  if (row === undefined) throw new AppError('not_found', 'There is none.')
  return row.id
}
