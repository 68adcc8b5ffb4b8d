import { chmod, mkdtemp, readdir, readFile, rm, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { asUserOf } from '../../../../test/support/as-user-of.ts'
import {
  appendKeys,
  appendNotes,
  listLastNotes,
  prepareCheckpointFolder,
  readCheckpointTexts,
} from './checkpoint-folder.ts'

const AT = new Date('2026-11-22T00:00:00Z')
const NOTE = (size: number) =>
  `example.com/audit/1\n${size}\nqqqq\n\n— example.com/audit/1 c2ln${size}\n— example.com/audit/1 dGltZWQ=\n`

const appendNote = (note: string, signedAt = AT) => appendNotes(folder, [{ note, signedAt }])

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'checkpoints-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

describe('the folder of checkpoints', () => {
  it('goes on behind a checkpoint that was not written to its end, wherever that broke off', async () => {
    const path = join(folder, 'checkpoints-2026-11.txt')
    await appendNote(NOTE(1))
    const { length: whole } = await readFile(path)
    await appendNote(NOTE(2))
    const { length: end } = await readFile(path)
    for (let broken = whole; broken < end; broken += 1) {
      await truncate(path, broken)
      await appendNote(NOTE(3))
      const { notes } = await readCheckpointTexts(folder)
      expect(notes[0], String(broken)).toBe(NOTE(1))
      expect(notes.at(-1), String(broken)).toBe(NOTE(3))
      // Of the second there is nothing, or all but the time of its signature.
      const between = notes.slice(1, -1).map((note) => NOTE(2).startsWith(note))
      expect(between.every(Boolean), String(broken)).toBe(true)
      await truncate(path, whole)
      await appendNote(NOTE(2))
    }
  })

  it('adds a key again that was not written to its end', async () => {
    await appendKeys(folder, ['example.com+00000000+AAAA', 'example.com+11111111+BBBB'])
    await truncate(join(folder, 'verifier-keys.txt'), 40)
    await appendKeys(folder, ['example.com+00000000+AAAA', 'example.com+11111111+BBBB'])
    expect((await readCheckpointTexts(folder)).keys).toContain('example.com+11111111+BBBB')
  })

  it('takes the checkpoints of the present month where a past one is read-only, and says so', async () => {
    const later = new Date('2026-12-01T00:00:00Z')
    await appendNote(NOTE(1))
    await asUserOf(folder, async () => {
      await chmod(join(folder, 'checkpoints-2026-11.txt'), 0o444)
      const notes = [
        { note: NOTE(2), signedAt: AT },
        { note: NOTE(3), signedAt: later },
      ]
      await expect(appendNotes(folder, notes)).rejects.toThrow(/EACCES.*2026-11/)
      expect((await readCheckpointTexts(folder)).notes).toEqual([NOTE(1), NOTE(3)])
    })
  })

  it('is good for a start while past months and the keys are read-only, and the present month is not', async () => {
    const later = new Date('2026-12-01T00:00:00Z')
    await appendNote(NOTE(1))
    await prepareCheckpointFolder(folder, AT)
    await asUserOf(folder, async () => {
      const names = await readdir(folder)
      expect(names).toHaveLength(2)
      for (const name of names) await chmod(join(folder, name), 0o444)
      await prepareCheckpointFolder(folder, later)
      await expect(prepareCheckpointFolder(folder, AT)).rejects.toThrow(/EACCES.*2026-11/)
    })
  })

  it('knows the last checkpoint of every month, however long the months are', async () => {
    const notes = Array.from({ length: 400 }, (_, index) => NOTE(index + 1))
    await appendNotes(
      folder,
      notes.map((note) => ({ note, signedAt: AT })),
    )
    expect((await readCheckpointTexts(folder)).notes).toEqual(notes)
    await appendNote(NOTE(401), new Date('2027-01-01T00:00:00Z'))
    expect(await readdir(folder)).toHaveLength(2)
    const last = (await listLastNotes(folder)).map((notes) => notes.at(-1))
    expect(last).toEqual([NOTE(400), NOTE(401)])
    expect(await listLastNotes(join(folder, 'none'))).toEqual([])
  })
})
