import type { SubjectIdentifier } from '@heliograph/ssf'
import type { Change } from '../../changes/change.ts'
import { AppError } from '../../platform/app-error.ts'
import { updateStream, type Stream } from '../streams/stream-store.ts'
import { toMatchKeys } from './subject-match.ts'
import { countSubjects, deleteSubject, deleteSubjects, insertSubject } from './subject-store.ts'

/** What a receiver wants of a subject. */
export interface SubjectWish {
  readonly subject: SubjectIdentifier
  /** Whether events about it are to be sent. */
  readonly isIncluded: boolean
  readonly isVerified: boolean
}

/**
 * Adds a subject to a stream or removes it, and leaves an audit entry that does not name it. The last
 * word about an event decides. What only says the default of the stream again is not kept, so that what
 * was removed and added again leaves nothing behind. The caller holds the lock of the stream. SSF 1.0
 * section 8.1.3.
 *
 * @throws AppError `limit_reached` when there would be more than `subjectsMax`
 */
export async function setSubject(
  change: Change,
  stream: Stream,
  wish: SubjectWish,
  subjectsMax: number,
): Promise<void> {
  const { subject, isIncluded, isVerified } = wish
  const { tx } = change
  if (isStreamItself(subject, stream)) return
  await deleteSubject(tx, stream.id, subject)
  const { included, excluded } = await countSubjects(tx, stream.id)
  const isDefault = isIncluded === (stream.defaultSubjects === 'ALL')
  const contraryCount = isIncluded ? excluded : included
  let count = included + excluded
  if (isDefault && contraryCount === 0) {
    await deleteSubjects(tx, stream.id)
    count = 0
  } else {
    if (count >= subjectsMax) throw tooMany(subjectsMax)
    await insertSubject(tx, {
      streamRowId: stream.id,
      subject,
      matchKeys: toMatchKeys(subject),
      isIncluded,
      isVerified,
      createdAt: change.at,
    })
    count += 1
  }
  await updateStream(tx, stream.id, { subjectCount: count })
  change.recordAudit({
    action: isIncluded ? 'ssf_stream.subject_added' : 'ssf_stream.subject_removed',
    target: { type: 'ssf_stream', id: stream.id },
    description: `${isIncluded ? 'added a subject to' : 'removed a subject from'} the stream ${stream.name}`,
    after: { format: subject.format, verified: isVerified },
  })
}

/** The stream is always a subject of its own events. SSF 1.0 section 8.1.4.1. */
function isStreamItself(subject: SubjectIdentifier, stream: Stream): boolean {
  return subject.format === 'opaque' && subject.id === stream.streamId
}

function tooMany(subjectsMax: number): AppError {
  return new AppError(
    'limit_reached',
    `A stream can have ${subjectsMax} subjects that were added or removed (HELIOGRAPH_SSF_SUBJECTS_MAX).`,
  )
}
