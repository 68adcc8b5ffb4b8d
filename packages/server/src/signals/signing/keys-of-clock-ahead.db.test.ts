import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createStreamsApi, type StreamsApi } from '../../../test/support/streams-api.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../platform/clock.ts'
import { rollBackSigningKey, rotateSigningKey } from './change-signing-key.ts'
import { listSigningKeys } from './signing-key-store.ts'
import { findGeneralKey } from './signing-key.ts'

/* A rotation of keys that were made by a clock that was ahead, which is right by now. */

const AHEAD_MS = 3 * DAY_MS

let streams: StreamsApi
let firstKid: string
beforeEach(async () => {
  streams = await createStreamsApi()
  firstKid = streams.keyRing.activeKid()
  const ahead = new Date(streams.clock.now().getTime() + AHEAD_MS)
  const times = { created_at: ahead, active_from: ahead, general_from: ahead }
  await streams.db.updateTable('signing_key').set(times).execute()
})

afterEach(() => streams.close())

async function rotate(): Promise<string> {
  const { keyRing, runChange, sealer } = streams
  const { kid } = await runChange({ actor: SYSTEM_ACTOR }, (change) =>
    rotateSigningKey(change, { sealer, modulusBits: 2048, publicationLeadMs: 2 * HOUR_MS }),
  )
  await keyRing.refresh()
  return kid
}

async function rollBack(): Promise<string> {
  await streams.runChange({ actor: SYSTEM_ACTOR }, rollBackSigningKey)
  await streams.keyRing.refresh()
  return streams.keyRing.activeKid()
}

test('one that is announced waits for its lead and can be rolled back', async () => {
  const { clock, keyRing } = streams
  const kid = await rotate()
  expect([keyRing.activeKid(), keyRing.isPublished(kid)]).toEqual([firstKid, true])
  expect(await rollBack()).toBe(firstKid)
  expect(keyRing.isPublished(kid)).toBe(true)
  const nextKid = await rotate()
  expect(keyRing.activeKid()).toBe(firstKid)
  clock.advance(3 * HOUR_MS)
  expect(keyRing.activeKid()).toBe(nextKid)
})

test('one that was just replaced signs also in a process whose clock is behind', async () => {
  await rotate()
  const behind = new Date(streams.clock.now().getTime() - MINUTE_MS)
  expect(findGeneralKey(await listSigningKeys(streams.db), behind)?.kid).toBe(firstKid)
})

test('one that was replaced does not take over again when its time comes, and a rollback goes back to it', async () => {
  const { clock, keyRing } = streams
  const kid = await rotate()
  clock.advance(4 * DAY_MS)
  expect([keyRing.activeKid(), keyRing.isPublished(firstKid)]).toEqual([kid, true])
  expect(await rollBack()).toBe(firstKid)
})

test('none takes over again from a later one, however many were replaced before', async () => {
  const { clock, db, keyRing } = streams
  const secondKid = await rotate()
  clock.advance(DAY_MS)
  // As where the clock is set back by more than the rotation is ago.
  const shift = sql<Date>`general_from + interval '5 days'`
  await db
    .updateTable('signing_key')
    .set({
      created_at: sql`${shift} - interval '2 hours'`,
      active_from: shift,
      general_from: shift,
    })
    .execute()
  await keyRing.refresh()
  expect(keyRing.activeKid()).toBe(secondKid)
  const thirdKid = await rotate()
  expect(keyRing.activeKid()).toBe(secondKid)
  for (const days of [1, 5, 5]) {
    clock.advance(days * DAY_MS)
    expect(keyRing.activeKid()).toBe(thirdKid)
  }
  expect(await rollBack()).toBe(secondKid)
})

/** A rotation that began and ended by the clock that was ahead; the key that it made. */
async function rotateAhead(): Promise<string> {
  const { clock, db, keyRing } = streams
  clock.advance(AHEAD_MS)
  const kid = await rotate()
  clock.advance(-AHEAD_MS)
  await keyRing.refresh()
  const { created_at: createdAt, general_from: from } = await db
    .selectFrom('signing_key')
    .select(['created_at', 'general_from'])
    .where('kid', '=', kid)
    .executeTakeFirstOrThrow()
  expect(from?.getTime()).toBe(createdAt.getTime() + 2 * HOUR_MS)
  expect(keyRing.activeKid()).toBe(kid)
  return kid
}

test('a rotation of then is over: another one can begin, and be rolled back', async () => {
  const kid = await rotateAhead()
  const nextKid = await rotate()
  expect(streams.keyRing.activeKid()).toBe(kid)
  streams.clock.advance(3 * HOUR_MS)
  expect(streams.keyRing.activeKid()).toBe(nextKid)
  expect(await rollBack()).toBe(kid)
})

test('a rotation of then can be rolled back', async () => {
  await rotateAhead()
  expect(await rollBack()).toBe(firstKid)
})
