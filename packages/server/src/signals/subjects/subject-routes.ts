/*
 * The subjects of a stream in the REST API: what was said about them, by its receiver or by an admin, and how
 * that is changed. What is said is set-subject.ts's; SSF 1.0 section 8.1.3 has the same for receivers.
 */
import { parseSubjectIdentifier, type SubjectIdentifier } from '@heliograph/ssf'
import type { Kysely } from 'kysely'
import { z } from 'zod'
import type { Change } from '../../changes/change.ts'
import { changeRoute } from '../../changes/change-routes.ts'
import { PERSON_LIST } from '../../people/people/person-read.ts'
import { invalidBody } from '../../platform/app-error.ts'
import { toWire } from '../../platform/wire/to-wire.ts'
import { recordIdSchema, timestampSchema } from '../../platform/wire/wire-values.ts'
import { DEVICE_LIST } from '../../posture/devices/device-read.ts'
import { answer, listRoute, noContent, type ApiRoute } from '../../schema/operations.ts'
import type { Schema } from '../../schema/schema.ts'
import { toDeviceSubject, toPersonSubject } from '../sets/stream-identifiers.ts'
import { STREAM_ACCESS } from '../streams/stream-access.ts'
import type { StreamContext } from '../streams/stream-context.ts'
import { getStream, parseStreamReference, type Stream } from '../streams/stream-store.ts'
import { setSubject } from './set-subject.ts'
import { readKnownSubjects } from './subject-read.ts'
import { listSubjects } from './subject-store.ts'

type SubjectDependencies = Pick<StreamContext, 'db' | 'runChange' | 'sealer' | 'settings'>

const identifierSchema = z
  .looseObject({ format: z.string() })
  .describe('A subject identifier of RFC 9493, or a complex one of SSF 1.0 section 3.3.')

const namedRecordSchema = z.object({ id: z.string(), name: z.string() })

const subjectSchema = z
  .object({
    id: z.string(),
    subject: identifierSchema,
    included: z.boolean().describe('Whether it was added; else it was removed.'),
    verified: z.boolean().describe('Whether whoever said it has verified whom it names.'),
    device: namedRecordSchema
      .nullable()
      .describe('The device that it names, as far as the identifier tells.'),
    person: namedRecordSchema
      .nullable()
      .describe('The person that it names, as far as the identifier tells.'),
    created_at: timestampSchema.describe('When it was said. The last word about an event decides.'),
  })
  .meta({ id: 'StreamSubject', description: 'What was said about a subject of a stream.' })

const wishBody = z.strictObject({
  device_id: recordIdSchema.optional().describe('A device.'),
  person_id: recordIdSchema.optional().describe('A person, with every device they own.'),
  subject: identifierSchema.optional(),
})

/** What was said about the subjects of streams, and saying it. */
export function subjectRoutes(dependencies: SubjectDependencies): ApiRoute[] {
  const { db } = dependencies
  return [
    listRoute({
      ...STREAM_ACCESS,
      path: '/ssf_streams/:id/subjects',
      summary: 'List what was said about the subjects of a stream',
      description:
        'What was added and removed, in the order in which it was said. About whom nothing was said, `default_subjects` of the stream decides.',
      item: subjectSchema,
      fetch: async ({ params, window }) => {
        const stream = await getStream(db, parseStreamReference(params.id))
        return readKnownSubjects(db, stream, await listSubjects(db, stream.id, window))
      },
      toJson: (known) =>
        toWire(subjectSchema, known, {
          subject: { ...known.subject },
          included: known.isIncluded,
          verified: known.isVerified,
        }),
    }),
    wishRoute(dependencies, {
      isIncluded: true,
      path: '/ssf_streams/:id/add_subject',
      summary: 'Add a subject to a stream',
      description: 'The receiver is told of its devices from now on.',
    }),
    wishRoute(dependencies, {
      isIncluded: false,
      path: '/ssf_streams/:id/remove_subject',
      summary: 'Remove a subject from a stream',
      description:
        'The receiver is no more told when its devices stop being compliant, or become so again.',
    }),
  ]
}

interface WishDeclaration {
  readonly isIncluded: boolean
  readonly path: `/ssf_streams/:id/${'add' | 'remove'}_subject`
  readonly summary: string
  readonly description: string
}

function wishRoute(
  { runChange, sealer, settings }: SubjectDependencies,
  { isIncluded, ...declared }: WishDeclaration,
): ApiRoute {
  return changeRoute(runChange, {
    ...STREAM_ACCESS,
    ...declared,
    description: `${declared.description} Exactly one of \`device_id\`, \`person_id\` and \`subject\` says whom. What the default of the stream says anyway is not kept.`,
    method: 'POST',
    body: wishBody,
    example: { body: { device_id: '17' } },
    responses: { 204: noContent },
    handler: async ({ change, params, body }) => {
      const stream = await getStream(change.tx, parseStreamReference(params.id), { isLocked: true })
      const subject = await toSubject(change, stream, body, sealer)
      const wish = { subject, isIncluded, isVerified: true }
      await setSubject(change, stream, wish, settings.subjectsMax)
      return answer(204, undefined)
    },
  })
}

/** Whom a body names, by the identifier that the events of the stream have for them. */
async function toSubject(
  { tx }: Pick<Change, 'tx'>,
  stream: Stream,
  body: z.output<typeof wishBody>,
  sealer: SubjectDependencies['sealer'],
): Promise<SubjectIdentifier> {
  const { device_id: deviceId, person_id: personId, subject } = body
  const given = [deviceId, personId, subject].filter((member) => member !== undefined)
  if (given.length !== 1) {
    const message = 'Exactly one of device_id, person_id and subject is required.'
    throw invalidBody([{ path: 'subject', message }])
  }
  if (deviceId !== undefined) return findDeviceSubject(tx, stream, deviceId, sealer)
  if (personId !== undefined) return findPersonSubject(tx, stream, personId, sealer)
  const parsed = parseSubjectIdentifier(subject)
  if (parsed.ok) return parsed.value
  throw invalidBody(
    parsed.issues.map(({ path, message }) => ({
      path: path === '' ? 'subject' : `subject.${path}`,
      message,
    })),
  )
}

async function findDeviceSubject(
  db: Kysely<Schema>,
  stream: Stream,
  deviceId: string,
  sealer: SubjectDependencies['sealer'],
): Promise<SubjectIdentifier> {
  const { id } = await DEVICE_LIST.get(db, deviceId)
  const subject = toDeviceSubject(
    { ...stream, subjectForm: 'iss_sub' },
    { id, owner: null },
    sealer,
  )
  if (subject === undefined) throw new Error('a device always has an identifier')
  return subject
}

async function findPersonSubject(
  db: Kysely<Schema>,
  stream: Stream,
  personId: string,
  sealer: SubjectDependencies['sealer'],
): Promise<SubjectIdentifier> {
  const { id, email } = await PERSON_LIST.get(db, personId)
  const subject = toPersonSubject(stream, { personId: id, email }, sealer)
  if (subject !== undefined) return subject
  const message = 'The person has no email address by which events could name them.'
  throw invalidBody([{ path: 'person_id', message }])
}
