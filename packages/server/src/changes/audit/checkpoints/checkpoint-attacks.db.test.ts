/*
 * What somebody does who has the whole database, the rights of its owner included, and not the folder of the
 * checkpoints nor the master key.
 */
import { chmod, copyFile, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { asUserOf } from '../../../../test/support/as-user-of.ts'
import { createAuditChainer } from '../chain/audit-chainer.ts'
import {
  createTestAuditLog,
  FORGET_CHAIN,
  type TestAuditLog,
} from '../../../../test/support/audit-log.ts'
import { recordStatements } from '../../../../test/support/record-statements.ts'
import { verifyAuditChain } from '../verify-audit-chain.ts'
import { splitNotes } from './checkpoint.ts'
import { exportCheckpoints } from './export-checkpoints.ts'
import { collectCheckpoints } from './collect-checkpoints.ts'
import { rotateCheckpointKey } from './checkpoint-keys.ts'
import { ChainDiverged, signCheckpoint } from './sign-checkpoint.ts'
import { parseVerifierKey, type VerifierKey } from './signed-note.ts'
import { readCheckpointTexts } from './checkpoint-folder.ts'
import { SYSTEM_ACTOR } from '../audit-entry.ts'

/** While nothing is written: the keys, what is next to the ends of files, and what is beyond the last. */
const STATEMENTS_OF_EXPORT = 3

let log: TestAuditLog

beforeEach(async () => {
  log = await createTestAuditLog()
  await log.record(3)
  await log.checkpoint()
  await log.record(300)
  await log.checkpoint()
})

afterEach(() => log.close())

const collect = (keys: readonly VerifierKey[] = []) =>
  collectCheckpoints(log.db, { folder: log.folder, paths: [], keys })

async function verify(keys: readonly VerifierKey[] = []) {
  const { checkpoints, problem } = await collect(keys)
  const verdict = await verifyAuditChain(log.db, { checkpoints, now: log.clock.now() })
  return problem === undefined || !verdict.isWhole
    ? verdict
    : { ...verdict, isWhole: false, problem }
}

/** What the verification says without what left the database. */
const verifyWithout = () => verifyAuditChain(log.db)

const DELETE_LAST = [
  `delete from audit_entry where sequence > (select max(sequence) - 5 from audit_entry)`,
]

describe('checkpoints', () => {
  it('say the same as a log that nobody touched', async () => {
    expect(await verify()).toMatchObject({ isWhole: true, entryCount: 304, checkpointCount: 2 })
  })

  it('find a tail that was cut off', async () => {
    await log.attack(...DELETE_LAST)
    await log.chainAnew()
    expect(await verifyWithout()).toMatchObject({ isWhole: true, entryCount: 299 })
    expect(await verify()).toMatchObject({
      isWhole: false,
      problem: expect.stringMatching(
        /has 299 entries, .* covers 304: those at the end are gone/,
      ) as unknown,
    })
  })

  it('find that everything was deleted', async () => {
    await log.attack(
      ...FORGET_CHAIN,
      'truncate audit_entry, audit_checkpoint, audit_checkpoint_key',
    )
    expect(await verifyWithout()).toMatchObject({ isWhole: true, entryCount: 0 })
    expect(await verify()).toMatchObject({
      isWhole: false,
      problem: expect.stringContaining('has 0 entries') as unknown,
    })
  })

  it('find a changed entry after which every hash was made anew', async () => {
    await log.attack(`update audit_entry set description = 'harmless' where sequence = 2`)
    await log.chainAnew()
    expect(await verifyWithout()).toMatchObject({ isWhole: true, entryCount: 304 })
    expect(await verify()).toMatchObject({
      isWhole: false,
      problem: expect.stringContaining('the first 3 entries are not those') as unknown,
    })
  })

  it('narrow down where a log was written anew', async () => {
    await log.attack(`update audit_entry set description = 'harmless' where sequence = 200`)
    await log.chainAnew()
    expect(await verify()).toMatchObject({
      isWhole: false,
      checkpointCount: 1,
      problem: expect.stringMatching(
        /the first 304 entries are not those .*; up to the one of/,
      ) as unknown,
    })
  })

  it('find a single entry that was changed, by its hash alone', async () => {
    await log.attack(`update audit_entry set actor_name = 'Somebody else' where sequence = 250`)
    expect(await verify()).toMatchObject({ isWhole: false, sequence: '250' })
  })

  it('find a log of another key that was put in the place of this one', async () => {
    await log.attack(`update audit_entry set description = 'harmless' where sequence = 2`)
    await log.chainAnew()
    const other = await createTestAuditLog()
    try {
      // The thief signs with a key of their own, under the name of the log.
      const [own] = (await readCheckpointTexts(log.folder)).keys
      await log.attack('truncate audit_checkpoint, audit_checkpoint_key')
      await log.runChange({ actor: SYSTEM_ACTOR }, (change) =>
        rotateCheckpointKey(change, { ...log, sealer: other.sealer }, { isNewLog: false }),
      )
      await log.database.pool.query('update audit_checkpoint_key set origin = $1', [
        parseVerifierKey(own ?? '')?.name,
      ])
      await signCheckpoint({ ...log, sealer: other.sealer, folder: other.folder })
      expect(await verify()).toMatchObject({ isWhole: false })
    } finally {
      await other.close()
    }
  })

  it('find a checkpoint in the folder that somebody changed', async () => {
    const [name = ''] = (await readdir(log.folder)).filter((file) => file.startsWith('checkpoints'))
    await copyFile(join(log.folder, name), join(log.folder, 'checkpoints-2020-01.txt'))
    expect(await verify()).toMatchObject({ isWhole: true })
    const text = await readFile(join(log.folder, name), 'utf8')
    await writeFile(join(log.folder, name), text.replace('\n304\n', '\n299\n'))
    expect(await verify()).toMatchObject({
      problem: expect.stringContaining('is not signed') as unknown,
    })
  })

  it('are not signed for a log that does not continue them', async () => {
    await log.attack(...DELETE_LAST, 'truncate audit_checkpoint')
    await log.chainAnew()
    await expect(signCheckpoint(log)).rejects.toThrow(ChainDiverged)
    // Nor when it has grown beyond them again.
    await log.record(20)
    await log.chainer.flush()
    await expect(signCheckpoint(log)).rejects.toThrow(/are not those/)
  })

  it('find a log that says its beginning was cut, as far as they go and farther', async () => {
    await log.record(300)
    await log.attack(
      `update audit_entry set description = 'harmless'`,
      ...FORGET_CHAIN,
      'delete from audit_checkpoint',
    )
    await createAuditChainer(log.db, { logError: () => undefined }).flush()
    // Of everything that a checkpoint covers it says that it was deleted for its age.
    await log.attack(
      `delete from audit_entry using audit_link where sequence = entry_sequence and position <= 512`,
      `update audit_chain set cut_position = 512, cut_at = now(),
         cut_head = (select hash from audit_link where position = 512)`,
      `delete from audit_link where position <= 512`,
    )
    await expect(signCheckpoint(log)).rejects.toThrow(/covers 304 .* begins behind 512/)
    expect(await verify()).toMatchObject({
      isWhole: false,
      problem: expect.stringMatching(/begins behind 512, and no checkpoint covers/) as unknown,
    })
  })

  it('of the last 30 days cannot have been outdated by a cut', async () => {
    await log.record(300)
    log.clock.set(new Date().toISOString())
    await log.checkpoint()
    await log.record(300)
    await log.checkpoint()
    await log.attack(
      `update audit_chain set cut_position = 768, cut_at = now(),
         cut_head = (select hash from audit_link where position = 768)`,
      `delete from audit_entry using audit_link where sequence = entry_sequence and position <= 768`,
      `delete from audit_link where position <= 768`,
      'delete from audit_checkpoint where size < 768',
    )
    expect(await verify()).toMatchObject({
      isWhole: false,
      problem: expect.stringMatching(/begins behind 768.* was signed within 30 days/) as unknown,
    })
  })

  it('are not signed by a new key because somebody took the old ones away', async () => {
    await log.attack('update audit_checkpoint_key set retired_at = now()')
    await log.record(1)
    await log.chainer.flush()
    await expect(signCheckpoint(log)).rejects.toThrow(/no key .* rotate-key/)
    await log.attack('truncate audit_checkpoint, audit_checkpoint_key')
    await expect(signCheckpoint(log)).rejects.toThrow(/no key .* rotate-key/)
  })

  it('are asked for when a key is trusted that signed none of them', async () => {
    const stranger = await createTestAuditLog()
    try {
      await stranger.record(1)
      await stranger.checkpoint()
      const [text = ''] = (await readCheckpointTexts(stranger.folder)).keys
      const key = parseVerifierKey(text)
      expect(key).toBeDefined()
      const { problem } = await collect(key === undefined ? [] : [key])
      expect(problem).toMatch(/no checkpoint is signed by the given key/)
    } finally {
      await stranger.close()
    }
  })

  it('that nobody can read are told', async () => {
    const [name = ''] = (await readdir(log.folder)).filter((file) => file.startsWith('checkpoints'))
    const text = await readFile(join(log.folder, name), 'utf8')
    await writeFile(join(log.folder, name), text.replace('\n304\n', '\nmany\n'))
    expect((await collect()).problem).toMatch(/cannot be read/)
  })

  it('begin anew under another name when an admin says so', async () => {
    await log.attack(...DELETE_LAST)
    await log.chainAnew()
    const key = await log.runChange({ actor: SYSTEM_ACTOR }, (change) =>
      rotateCheckpointKey(change, log, { isNewLog: true }),
    )
    await log.checkpoint()
    expect(await verify()).toMatchObject({ isWhole: false })
    expect(await verify([key])).toMatchObject({ isWhole: true, checkpointCount: 1 })
  })

  it('are signed by the key before too after a rotation', async () => {
    const [before] = (await readCheckpointTexts(log.folder)).keys
    const trusted = parseVerifierKey(before ?? '')
    // Whatever the clock says.
    log.clock.set('2020-09-09T00:00:00Z')
    await log.runChange({ actor: SYSTEM_ACTOR }, (change) =>
      rotateCheckpointKey(change, log, { isNewLog: false }),
    )
    await log.checkpoint()
    await log.record(1)
    await log.checkpoint()
    expect(await verify()).toMatchObject({ isWhole: true, checkpointCount: 4 })
    expect(await verify(trusted === undefined ? [] : [trusted])).toMatchObject({
      isWhole: true,
      checkpointCount: 3,
    })
  })

  it('are not left out where the file that was named is another one', async () => {
    const paths = [join(log.folder, 'elsewhere.txt')]
    await expect(
      collectCheckpoints(log.db, { folder: log.folder, paths, keys: [] }),
    ).rejects.toThrow(/no checkpoint in .*elsewhere/)
  })

  it('are written once each, also when the clock was wrong for a while', async () => {
    for (const time of ['2031-01-01T00:00:00Z', '2026-02-02T00:00:00Z', '2026-03-03T00:00:00Z']) {
      log.clock.set(time)
      await log.record(1)
      await log.checkpoint()
      await exportCheckpoints(log.db, log.folder)
    }
    expect(await readdir(log.folder)).toContain('checkpoints-2031-01.txt')
    expect((await readCheckpointTexts(log.folder)).notes).toHaveLength(5)
    await log.attack(...DELETE_LAST, 'truncate audit_checkpoint')
    await log.chainAnew()
    await expect(signCheckpoint(log)).rejects.toThrow(/are gone/)
  })

  it('are written to the file of a past month once it can be written again, each once', async () => {
    const november = join(log.folder, 'checkpoints-2031-11.txt')
    const record = async (time: string) => {
      log.clock.set(time)
      await log.record(1)
      await log.chainer.flush()
      await signCheckpoint(log)
    }
    await record('2031-11-30T23:00:00Z')
    await exportCheckpoints(log.db, log.folder)
    const isWhole = async () => splitNotes(await readFile(november, 'utf8')).length === 3
    await record('2031-11-30T23:30:00Z')
    await record('2031-11-30T23:40:00Z')
    await record('2031-12-01T00:00:00Z')
    await asUserOf(log.folder, async () => {
      await chmod(november, 0o444)
      await expect(exportCheckpoints(log.db, log.folder)).rejects.toThrow(/EACCES/)
      // The later one proves the same entries.
      const statements = await recordStatements(async () => {
        await expect(exportCheckpoints(log.db, log.folder)).resolves.toBe(0)
      })
      // Nor is what it lacks read in vain, every minute.
      expect(statements).toHaveLength(STATEMENTS_OF_EXPORT)
      expect(await isWhole()).toBe(false)
      await chmod(november, 0o600)
      await expect(exportCheckpoints(log.db, log.folder)).resolves.toBe(2)
    })
    expect(await isWhole()).toBe(true)
    await expect(exportCheckpoints(log.db, log.folder)).resolves.toBe(0)
  })

  it('are not written under another size than they have', async () => {
    await log.attack(`insert into audit_checkpoint (origin, size, signed_at, note)
      select origin, 1000000, signed_at, note from audit_checkpoint where size < 300`)
    await expect(exportCheckpoints(log.db, log.folder)).rejects.toThrow(/not one that this log/)
    expect((await readCheckpointTexts(log.folder)).notes).toHaveLength(2)
  })

  it('are written again to a folder that was lost', async () => {
    await rm(log.folder, { recursive: true })
    await log.checkpoint()
    expect((await readCheckpointTexts(log.folder)).notes).toHaveLength(2)
    expect((await collect()).outsideCount).toBe(2)
  })
})
