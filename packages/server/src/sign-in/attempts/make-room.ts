/*
 * How many sign-ins may be under way, so that a flood of them fills neither the table nor the record, and keeps nobody
 * honest out: at a bound those end first that come from where the most do.
 */
import type { Change } from '../../changes/change.ts'
import {
  countAttemptsOfPerson,
  countAttemptsUnderWay,
  listCrowdedAttemptsForUpdate,
} from './attempt-store.ts'
import { abandonLocked } from './end-attempt.ts'

/** Far more than people begin within ten minutes anywhere. */
export const ATTEMPTS_MAX = 10_000
/** Of one person: who signs in with many applications at once has some. */
export const ATTEMPTS_PER_PERSON_MAX = 50
/** At a bound more than one end, so that the next ones need not look for any. */
const ENDED_AT_ONCE = 100
const ENDED_OF_PERSON_AT_ONCE = 5

/** Ends sign-ins under way where there are too many of everybody. */
export async function makeRoom(change: Change): Promise<void> {
  if ((await countAttemptsUnderWay(change.tx, ATTEMPTS_MAX)) < ATTEMPTS_MAX) return
  await endCrowded(change, null, ENDED_AT_ONCE)
}

/** Ends sign-ins under way where there are too many of a person. */
export async function makeRoomForPerson(change: Change, personId: string): Promise<void> {
  const count = await countAttemptsOfPerson(change.tx, personId, ATTEMPTS_PER_PERSON_MAX)
  if (count >= ATTEMPTS_PER_PERSON_MAX) await endCrowded(change, personId, ENDED_OF_PERSON_AT_ONCE)
}

async function endCrowded(change: Change, personId: string | null, count: number): Promise<void> {
  for (const attempt of await listCrowdedAttemptsForUpdate(change.tx, personId, count)) {
    await abandonLocked(change, attempt)
  }
}
