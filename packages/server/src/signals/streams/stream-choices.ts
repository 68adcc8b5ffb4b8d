/*
 * What a stream chooses of its events and answers: the single choices, and profiles, which are named sets
 * of them. One table says of each choice how it is called, written, shown and preset; bodies, answers,
 * columns and the audit log derive from it. What the choices do to a SET is in set-claims.ts.
 */
import { z } from 'zod'
import { newSecret } from '../../platform/ids.ts'
import type { SealContext, Sealer } from '../../platform/secrets/sealed-box.ts'
import { refuseIf } from './refuse-if.ts'
import type { Stream } from './stream-store.ts'

export const STREAM_PROFILE_NAMES = ['interface', 'strict', 'caep_interop', 'okta', 'sgnl'] as const
export type StreamProfileName = (typeof STREAM_PROFILE_NAMES)[number]

export const REASON_FIELDS = ['reason_admin', 'reason_user'] as const
export const REASON_DETAILS = ['issue_titles', 'device_name'] as const

/** A day. */
const DEBOUNCE_SECONDS_MAX = 86_400

/** A choice; its key in the table is the name in the code, that of its column in the other casing. */
interface Choice {
  /** Its name in bodies and answers. */
  readonly member: string
  readonly description: string
  /** What a body may say. */
  readonly written: z.ZodType
  /** What answers say, which is also what is stored. */
  readonly shown: z.ZodType
  /** What it is unless a profile says otherwise. */
  readonly preset: unknown
}

const CHOICES = {
  specVersion: {
    member: 'spec_version',
    description: 'Where events name their subject: at the top, inside the event, or both.',
    written: z
      .enum(['1.0', 'v1.0', 'draft', 'both'])
      .transform((version) => (version === 'v1.0' ? '1.0' : version)),
    shown: z.enum(['1.0', 'draft', 'both']),
    preset: '1.0',
  },
  subjectForm: {
    member: 'subject_form',
    description: 'How events name their subject.',
    ...same(z.enum(['complex', 'iss_sub', 'email'])),
    preset: 'complex',
  },
  reasonFields: {
    member: 'reason_fields',
    description: 'Which reasons events carry.',
    written: z.array(z.enum(REASON_FIELDS)).max(REASON_FIELDS.length),
    shown: z.array(z.enum(REASON_FIELDS)),
    preset: REASON_FIELDS,
  },
  reasonDetails: {
    member: 'reason_details',
    description: 'What the reasons may tell.',
    written: z.array(z.enum(REASON_DETAILS)).max(REASON_DETAILS.length),
    shown: z.array(z.enum(REASON_DETAILS)),
    preset: REASON_DETAILS,
  },
  hasPairwiseIdentifiers: {
    member: 'pairwise_identifiers',
    description: 'Devices and people get identifiers that no other stream knows.',
    ...same(z.boolean()),
    preset: false,
  },
  /** Some clients look for the issuer of an `iss_sub` identifier under another name than RFC 9493's. */
  hasOpaqueIdentifiers: {
    member: 'opaque_identifiers',
    description:
      'Devices, and people with pairwise identifiers, are named by `opaque` instead of `iss_sub`.',
    ...same(z.boolean()),
    preset: false,
  },
  /** Some clients cannot decode it. */
  omitsMoreAvailable: {
    member: 'omit_more_available',
    description: 'Poll answers never carry `moreAvailable`.',
    ...same(z.boolean()),
    preset: false,
  },
  /** Some clients expect them. */
  usesLegacyStatusCodes: {
    member: 'legacy_status_codes',
    description: 'Verification and the removal of subjects answer 200 instead of 204.',
    ...same(z.boolean()),
    preset: false,
  },
  /** So that the receiver sees that one is missing. */
  isNumbered: {
    member: 'heliograph_sequence',
    description: 'Events carry their number in the stream.',
    ...same(z.boolean()),
    preset: false,
  },
  /** Bad news is never held back. */
  debounceSeconds: {
    member: 'damping_seconds',
    description: 'How long good news about a device is held back, in case it does not last.',
    written: z.int().min(0).max(DEBOUNCE_SECONDS_MAX),
    shown: z.int(),
    preset: 0,
  },
} as const satisfies Record<string, Choice>

type Choices = typeof CHOICES
type ChoiceName = keyof Choices
type Value<Name extends ChoiceName> = Readonly<z.output<Choices[Name]['shown']>>

/** Everything that a stream chooses. */
export type StreamChoices = { readonly [Name in ChoiceName]: Value<Name> }

/** What a client chooses; what is absent stays, or comes from the profile that is named. */
export type ChoiceInput = { readonly [Name in ChoiceName]?: Value<Name> | undefined } & {
  readonly profile?: StreamProfileName | undefined
}

const CHOICE_NAMES = Object.keys(CHOICES) as ChoiceName[]

const PLAIN = byName((name) => CHOICES[name].preset) as StreamChoices

/** What each profile stands for. `docs/ssf.md` shows the same table, which a test compares. */
export const STREAM_PROFILES: Readonly<Record<StreamProfileName, StreamChoices>> = {
  interface: PLAIN,
  strict: { ...PLAIN, subjectForm: 'iss_sub' },
  // The interoperability profile takes simple subjects only (section 2.5).
  caep_interop: { ...PLAIN, subjectForm: 'iss_sub' },
  // Reads the subject inside the event and wants device, user and tenant in it.
  okta: { ...PLAIN, specVersion: 'draft' },
  // Reads `issuer` where RFC 9493 section 3.2.3 says `iss`, so that it refuses every `iss_sub` identifier.
  sgnl: {
    ...PLAIN,
    hasOpaqueIdentifiers: true,
    omitsMoreAvailable: true,
    usesLegacyStatusCodes: true,
  },
}

/** The members of a body that choose. */
export const choiceShape = {
  profile: z
    .enum(STREAM_PROFILE_NAMES)
    .describe('Sets every choice below that is not named beside it.')
    .optional(),
  ...(byMember(({ written, description }) => written.describe(description).optional()) as {
    readonly [Name in ChoiceName as Choices[Name]['member']]: z.ZodOptional<
      Choices[Name]['written']
    >
  }),
}

/** The choices of a stream in an answer. */
export const choiceJsonShape = {
  profile: z
    .enum(STREAM_PROFILE_NAMES)
    .describe('The profile that was named last; the choices beside it are what counts.'),
  ...(byMember(({ shown }) => shown) as {
    readonly [Name in ChoiceName as Choices[Name]['member']]: Choices[Name]['shown']
  }),
}

/** What the members of a validated body choose. */
export function readChoices(members: z.output<z.ZodObject<typeof choiceShape>>): ChoiceInput {
  return { profile: members.profile, ...byName((name) => members[CHOICES[name].member]) }
}

/** The wire form of the choices, for answers and the audit log. */
export function toChoicesJson(stream: Stream): z.output<z.ZodObject<typeof choiceJsonShape>> {
  const values = CHOICE_NAMES.map((name) => [CHOICES[name].member, stream[name]] as const)
  return { profile: stream.profile, ...(Object.fromEntries(values) as ChoicesJson) }
}

type ChoicesJson = Omit<z.output<z.ZodObject<typeof choiceJsonShape>>, 'profile'>
type ChoiceValues = Pick<Stream, ChoiceName | 'profile' | 'pairwiseSecretSealed'>

/** What the choices of a stream are made from. */
export interface ChoiceContext {
  readonly streamId: string
  readonly sealer: Sealer
  /** The stream as it is, or the profile that a new one begins with. */
  readonly base: Stream | StreamProfileName
  /** What stands before the members in the body, for refusals. */
  readonly pathPrefix: '' | 'ssf_stream.'
}

/**
 * The effective choices as a stream stores them: those that are named, on the profile that is named, on
 * what the stream has. The secret of pairwise identifiers is made when they are first chosen and kept
 * from then on.
 *
 * @throws AppError `invalid_body` for choices that contradict one another.
 */
export function toChoiceValues(
  input: ChoiceInput | undefined,
  context: ChoiceContext,
): ChoiceValues {
  const wanted = input ?? {}
  const { base, sealer, streamId } = context
  const before = typeof base === 'string' ? undefined : base
  const profile = wanted.profile ?? (typeof base === 'string' ? base : base.profile)
  const preset: StreamChoices =
    before === undefined || wanted.profile !== undefined ? STREAM_PROFILES[profile] : before
  const combined = byName((name) => wanted[name] ?? preset[name]) as StreamChoices
  const chosen = withoutContradictions(combined, wanted, context)
  const secret =
    before?.pairwiseSecretSealed ??
    (chosen.hasPairwiseIdentifiers
      ? sealer.seal(newSecret(), pairwiseSecretContext(streamId))
      : null)
  return {
    profile,
    ...chosen,
    reasonFields: inOrder(REASON_FIELDS, chosen.reasonFields),
    reasonDetails: inOrder(REASON_DETAILS, chosen.reasonDetails),
    pairwiseSecretSealed: secret,
  }
}

/** The place of the secret that the pairwise identifiers of a stream are derived from. */
export function pairwiseSecretContext(streamId: string): SealContext {
  return { table: 'ssf_stream', column: 'pairwise_secret_sealed', id: streamId }
}

/** An address or the name of a device would tell what pairwise identifiers are there to hide. */
function withoutContradictions(
  chosen: StreamChoices,
  input: ChoiceInput,
  { pathPrefix }: ChoiceContext,
): StreamChoices {
  if (!chosen.hasPairwiseIdentifiers) return chosen
  refuseIf([
    chosen.subjectForm === 'email' && {
      path: `${pathPrefix}subject_form`,
      message: 'Email addresses do not go with pairwise identifiers.',
    },
    input.reasonDetails?.includes('device_name') === true && {
      path: `${pathPrefix}reason_details`,
      message: 'Names of devices do not go with pairwise identifiers.',
    },
  ])
  const reasonDetails = chosen.reasonDetails.filter((detail) => detail !== 'device_name')
  return { ...chosen, reasonDetails }
}

function inOrder<Word extends string>(words: readonly Word[], chosen: readonly Word[]): Word[] {
  return words.filter((word) => chosen.includes(word))
}

/** A choice that is shown as it is written. */
function same<Schema extends z.ZodType>(schema: Schema) {
  return { written: schema, shown: schema }
}

function byName(toValue: (name: ChoiceName) => unknown): Readonly<Record<string, unknown>> {
  return Object.fromEntries(CHOICE_NAMES.map((name) => [name, toValue(name)]))
}

function byMember(toSchema: (choice: Choice) => z.ZodType): Readonly<Record<string, z.ZodType>> {
  return Object.fromEntries(
    Object.values(CHOICES).map((choice) => [choice.member, toSchema(choice)]),
  )
}
