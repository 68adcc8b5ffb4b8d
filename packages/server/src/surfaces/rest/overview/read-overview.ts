/*
 * Gathers what needs attention now. Owns how much of each kind is shown; where it is found is for the wings.
 */
import type { Kysely } from 'kysely'
import type { z } from 'zod'
import { DAY_MS } from '../../../platform/clock.ts'
import { listLocalDays } from '../../../platform/local-days.ts'
import { toWire } from '../../../platform/wire/to-wire.ts'
import { toTimestamp } from '../../../platform/wire/wire-values.ts'
import {
  listBlockingDays,
  listFailingChecks,
  readWaitingRequests,
} from '../../../posture/overview/attention-read.ts'
import { countStatuses } from '../../../posture/overview/status-count-store.ts'
import type { Schema } from '../../../schema/schema.ts'
import {
  countStoppedSignIns,
  listStoppedSignIns,
  STOPPED_COUNTED_MAX,
} from '../../../sign-in/journal/stopped-sign-in-read.ts'
import { listAilingDestinations } from '../../../signals/diagnosis/health/ailing-destination-read.ts'
import {
  ailingDestinationSchema,
  blockingDaySchema,
  blockingDeviceSchema,
  failingCheckSchema,
  stoppedSignInSchema,
  waitingSchema,
  type overviewSchema,
} from './overview-json.ts'

const FAILING_CHECKS_SHOWN = 10
const DAYS_SHOWN = 7
const DEVICES_PER_DAY_SHOWN = 5
const SIGN_INS_SHOWN = 5
const DESTINATIONS_SHOWN = 50

/** What needs attention at this moment; days are those of an IANA time zone that exists. Reads only. */
export async function readOverview(
  db: Kysely<Schema>,
  timeZone: string,
  now: Date,
): Promise<z.input<typeof overviewSchema>> {
  const { willBlock, ...counts } = await countStatuses(db)
  const checks = await listFailingChecks(db, FAILING_CHECKS_SHOWN)
  const localDays = listLocalDays(timeZone, now, DAYS_SHOWN)
  const days = await listBlockingDays(db, localDays, DEVICES_PER_DAY_SHOWN)
  const destinations = await listAilingDestinations(db, DESTINATIONS_SHOWN)
  const waiting = await readWaitingRequests(db)
  const ailing = (wanted: 'stream' | 'webhook') =>
    destinations
      .filter(({ kind }) => kind === wanted)
      .map((destination) => toWire(ailingDestinationSchema, destination))
  return {
    as_of: toTimestamp(now),
    devices: {
      total: counts.good + counts.notified + willBlock + counts.blocked,
      ...counts,
      will_block: willBlock,
    },
    failing_checks: checks.map((check) => toWire(failingCheckSchema, check)),
    blocking_days: days.map((day) =>
      toWire(blockingDaySchema, day, {
        devices: day.devices.map((device) => toWire(blockingDeviceSchema, device)),
      }),
    ),
    stopped_sign_ins: await readStoppedSignIns(db, localDays[0]?.beginsAt ?? now, now),
    streams: ailing('stream'),
    webhooks: ailing('webhook'),
    waiting_requests: {
      exemption: toWire(waitingSchema, waiting.exemption),
      registration: toWire(waitingSchema, waiting.registration),
      reenrollment: toWire(waitingSchema, waiting.reenrollment),
    },
  }
}

async function readStoppedSignIns(db: Kysely<Schema>, todayBeganAt: Date, now: Date) {
  const weekAgo = new Date(now.getTime() - DAYS_SHOWN * DAY_MS)
  const today = toBoundedCount(await countStoppedSignIns(db, todayBeganAt))
  const latest = await listStoppedSignIns(db, weekAgo, SIGN_INS_SHOWN)
  return {
    today,
    last_seven_days: toBoundedCount(await countStoppedSignIns(db, weekAgo)),
    latest: latest.map((signIn) => toWire(stoppedSignInSchema, signIn)),
  }
}

function toBoundedCount(found: number) {
  return { count: Math.min(found, STOPPED_COUNTED_MAX), exact: found <= STOPPED_COUNTED_MAX }
}
