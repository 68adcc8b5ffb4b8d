import { noContent, type Answer } from '../../platform/http/operation.ts'
import { toOrigin } from '../../changes/to-origin.ts'
import { parseStreamSubjectRequest, type StreamSubjectRequest } from '@heliograph/ssf'
import { z } from 'zod'
import { setSubject } from '../../signals/subjects/set-subject.ts'
import type { StreamContext } from '../../signals/streams/stream-context.ts'
import type { Stream } from '../../signals/streams/stream-store.ts'
import {
  invalidBody,
  readBody,
  type SsfOperation,
  type SsfRequest,
  ssfOperation,
} from './ssf-operation.ts'
import type { StandardSurface } from './standard-surface.ts'

const subjectBody = z
  .looseObject({
    stream_id: z.string(),
    subject: z.looseObject({ format: z.string() }).describe('RFC 9493, or complex.'),
    verified: z.boolean().optional(),
  })
  .meta({ id: 'SubjectRequest' })

const EXAMPLE = {
  stream_id: '5b0f6a6e-6a0e-4d0c-9d53-0d0f3a3f7c11',
  subject: { format: 'email', email: 'ada@example.com' },
}

/** The operations on the subjects of a stream. SSF 1.0 section 8.1.3. */
export function subjectEndpoints(surface: StandardSurface, context: StreamContext): SsfOperation[] {
  const setSubjectOf = createSetter(surface, context)
  return [
    ssfOperation({
      method: 'POST',
      path: '/ssf/subjects:add',
      scope: 'ssf.manage',
      summary: 'Add a subject to a stream',
      description: 'Answers the same for subjects that nobody knows.',
      body: subjectBody,
      example: { body: EXAMPLE },
      responses: { 200: noContent },
      handler: (request) => setSubjectOf(request, { isIncluded: true }, () => ({ status: 200 })),
    }),
    ssfOperation({
      method: 'POST',
      path: '/ssf/subjects:remove',
      scope: 'ssf.manage',
      summary: 'Remove a subject from a stream',
      description: 'Answers the same for subjects that nobody knows.',
      body: subjectBody,
      example: { body: EXAMPLE },
      responses: { 204: noContent },
      handler: (request) => setSubjectOf(request, { isIncluded: false }, surface.toSuccess),
    }),
  ]
}

function createSetter({ findStream }: StandardSurface, { runChange, settings }: StreamContext) {
  return async (
    request: SsfRequest,
    { isIncluded }: { readonly isIncluded: boolean },
    toAnswer: (stream: Stream) => Answer,
  ): Promise<Answer> => {
    const { stream_id, subject, verified: isVerified } = readSubjectRequest(request)
    return runChange(toOrigin(request), async (change) => {
      const named = { ...request, body: { stream_id } }
      const stream = await findStream(change.tx, named, { isLocked: true })
      await setSubject(change, stream, { subject, isIncluded, isVerified }, settings.subjectsMax)
      return toAnswer(stream)
    })
  }
}

function readSubjectRequest(request: SsfRequest): StreamSubjectRequest {
  const parsed = parseStreamSubjectRequest(readBody(request))
  if (parsed.ok) return parsed.value
  throw invalidBody(parsed.issues)
}
