/*
 * Checkpoints of the audit chain in the form of C2SP tlog-checkpoint: which log, how many entries, the root of
 * the tree over them; the time is in a signature. Owns their text, and what a text in a file holds.
 */
import { HASH_BYTES } from '../tree/merkle-tree.ts'
import { parseNote, verifyNote, type SignedNote, type VerifierKey } from './signed-note.ts'

/** What a checkpoint says of a log. */
export interface TreeHead {
  /** Which log this is; also the name of the keys that sign. */
  readonly origin: string
  readonly size: number
  readonly root: Buffer
}

/** A checkpoint that a known key signed. */
export interface Checkpoint extends TreeHead {
  readonly signedAt: Date | null
  /** As it was signed. */
  readonly note: string
}

/** A text that says it is a checkpoint; nothing of it is verified. */
export interface UnverifiedCheckpoint extends TreeHead {
  readonly note: string
  readonly signedNote: SignedNote
}

/** The text that is signed. */
export function toCheckpointText({ origin, size, root }: TreeHead): string {
  return `${origin}\n${size}\n${root.toString('base64')}\n`
}

/** Reads the text of a note; undefined for what is no checkpoint. */
export function parseCheckpoint(note: string): UnverifiedCheckpoint | undefined {
  const signedNote = parseNote(note)
  const [origin, sizeText, rootText] = signedNote?.text.split('\n') ?? []
  if (signedNote === undefined || origin === undefined || origin === '') return undefined
  if (!/^(?:0|[1-9]\d{0,14})$/.test(sizeText ?? '')) return undefined
  const root = Buffer.from(rootText ?? '', 'base64')
  if (root.length !== HASH_BYTES) return undefined
  return { origin, size: Number(sizeText), root, note, signedNote }
}

/** The checkpoint when one of `keys` signed it, under the name that its origin is; undefined otherwise. */
export function verifyCheckpoint(
  { signedNote, origin, size, root, note }: UnverifiedCheckpoint,
  keys: readonly VerifierKey[],
): Checkpoint | undefined {
  const own = keys.filter(({ name }) => name === origin)
  const trust = verifyNote(signedNote, own)
  return trust && { origin, size, root, note, signedAt: trust.signedAt ?? null }
}

/** Ends a line that was not written to its end. */
export const BROKEN_OFF = ' (broken off)'

/**
 * Takes a text apart that holds checkpoints one after the other, with empty lines between. What was not
 * written to its end is left out.
 */
export function splitNotes(text: string): string[] {
  const end = text.lastIndexOf('\n')
  const paragraphs = text.slice(0, end).split(/\n{2,}/)
  return paragraphs.flatMap((paragraph, index) => {
    const lines = paragraph.split('\n').filter((line) => !line.endsWith(BROKEN_OFF))
    const isSignatures = lines.length > 0 && lines.every((line) => line.startsWith('— '))
    const body = paragraphs[index - 1]
    return isSignatures && body !== undefined
      ? [`${body.trimStart()}\n\n${lines.join('\n')}\n`]
      : []
  })
}
