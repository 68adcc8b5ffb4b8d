/*
 * What a stream chooses of its events and answers: profiles, which are named sets of choices, and the
 * single choices. Owns how they are written, combined and shown; what they do to a SET is set-claims.ts.
 */
import { z } from 'zod'
import { newSecret } from '../../platform/ids.ts'
import type { SealContext, Sealer } from '../../platform/secrets/sealed-box.ts'
import { refuseIf } from './refuse-if.ts'
import type { StreamRow } from './stream-store.ts'

export const STREAM_PROFILE_NAMES = ['interface', 'strict', 'caep_interop', 'okta', 'sgnl'] as const
export type StreamProfileName = (typeof STREAM_PROFILE_NAMES)[number]

export const REASON_FIELDS = ['reason_admin', 'reason_user'] as const
export const REASON_DETAILS = ['issue_titles', 'device_name'] as const

/** Everything that a stream chooses. */
export interface StreamChoices {
  /** Where events name their subject: at the top, inside the event, or both. */
  readonly specVersion: StreamRow['spec_version']
  readonly subjectForm: StreamRow['subject_form']
  /** Which reasons events carry. */
  readonly reasonFields: readonly (typeof REASON_FIELDS)[number][]
  /** What the reasons may tell. */
  readonly reasonDetails: readonly (typeof REASON_DETAILS)[number][]
  /** Devices and people have identifiers that no other stream knows. */
  readonly hasPairwiseIdentifiers: boolean
  /** Poll answers never carry `moreAvailable`, which some clients cannot decode. */
  readonly omitsMoreAvailable: boolean
  /** Verification and the removal of subjects answer 200, as some clients expect, instead of 204. */
  readonly usesLegacyStatusCodes: boolean
  /** Events carry their number in the stream, so that the receiver sees that one is missing. */
  readonly isNumbered: boolean
  /** How long good news is held back, in case it does not last; bad news never is. */
  readonly dampingSeconds: number
}

/** A day. */
const DAMPING_SECONDS_MAX = 86_400

const PLAIN: StreamChoices = {
  specVersion: '1.0',
  subjectForm: 'complex',
  reasonFields: REASON_FIELDS,
  reasonDetails: REASON_DETAILS,
  hasPairwiseIdentifiers: false,
  omitsMoreAvailable: false,
  usesLegacyStatusCodes: false,
  isNumbered: false,
  dampingSeconds: 0,
}

/** What each profile stands for. `docs/ssf.md` shows the same table, which a test compares. */
export const STREAM_PROFILES: Readonly<Record<StreamProfileName, StreamChoices>> = {
  interface: PLAIN,
  strict: { ...PLAIN, subjectForm: 'iss_sub' },
  // The interoperability profile takes simple subjects only (section 2.5).
  caep_interop: { ...PLAIN, subjectForm: 'iss_sub' },
  // Reads the subject inside the event and wants device, user and tenant in it.
  okta: { ...PLAIN, specVersion: 'draft' },
  sgnl: { ...PLAIN, omitsMoreAvailable: true, usesLegacyStatusCodes: true },
}

/** What a client chooses; what is absent stays, or comes from the profile that is named. */
export type ChoiceInput = {
  readonly [Choice in keyof StreamChoices]?: StreamChoices[Choice] | undefined
} & { readonly profile?: StreamProfileName | undefined }

/** The members of a body that choose. */
export const choiceShape = {
  profile: z
    .enum(STREAM_PROFILE_NAMES)
    .describe('Sets every choice below that is not named beside it.')
    .optional(),
  spec_version: z
    .enum(['1.0', 'v1.0', 'draft', 'both'])
    .transform((version) => (version === 'v1.0' ? '1.0' : version))
    .describe('Where events name their subject: at the top, inside the event, or both.')
    .optional(),
  subject_form: z
    .enum(['complex', 'iss_sub', 'email'])
    .describe('How events name their subject.')
    .optional(),
  reason_fields: z
    .array(z.enum(REASON_FIELDS))
    .max(REASON_FIELDS.length)
    .describe('Which reasons events carry.')
    .optional(),
  reason_details: z
    .array(z.enum(REASON_DETAILS))
    .max(REASON_DETAILS.length)
    .describe('What the reasons may tell.')
    .optional(),
  pairwise_identifiers: z
    .boolean()
    .describe('Devices and people get identifiers that no other stream knows.')
    .optional(),
  omit_more_available: z.boolean().describe('Poll answers never carry `moreAvailable`.').optional(),
  legacy_status_codes: z
    .boolean()
    .describe('Verification and the removal of subjects answer 200 instead of 204.')
    .optional(),
  heliograph_sequence: z.boolean().describe('Events carry their number in the stream.').optional(),
  damping_seconds: z
    .int()
    .min(0)
    .max(DAMPING_SECONDS_MAX)
    .describe('How long good news about a device is held back, in case it does not last.')
    .optional(),
} as const

/** The choices of a stream in an answer. */
export const choiceJsonShape = {
  profile: z
    .enum(STREAM_PROFILE_NAMES)
    .describe('The profile that was named last; the choices beside it are what counts.'),
  spec_version: z.enum(['1.0', 'draft', 'both']),
  subject_form: z.enum(['complex', 'iss_sub', 'email']),
  reason_fields: z.array(z.enum(REASON_FIELDS)),
  reason_details: z.array(z.enum(REASON_DETAILS)),
  pairwise_identifiers: z.boolean(),
  omit_more_available: z.boolean(),
  legacy_status_codes: z.boolean(),
  heliograph_sequence: z.boolean(),
  damping_seconds: z.int(),
} as const

type ChoiceMembers = z.output<z.ZodObject<typeof choiceShape>>

/** What the members of a validated body choose. */
export function readChoices(members: ChoiceMembers): ChoiceInput {
  return {
    profile: members.profile,
    specVersion: members.spec_version,
    subjectForm: members.subject_form,
    reasonFields: members.reason_fields,
    reasonDetails: members.reason_details,
    hasPairwiseIdentifiers: members.pairwise_identifiers,
    omitsMoreAvailable: members.omit_more_available,
    usesLegacyStatusCodes: members.legacy_status_codes,
    isNumbered: members.heliograph_sequence,
    dampingSeconds: members.damping_seconds,
  }
}

/** The wire form of the choices, for answers and the audit log. */
export function toChoicesJson(stream: StreamRow) {
  return {
    profile: stream.profile,
    spec_version: stream.spec_version,
    subject_form: stream.subject_form,
    reason_fields: stream.reason_fields,
    reason_details: stream.reason_details,
    pairwise_identifiers: stream.has_pairwise_identifiers,
    omit_more_available: stream.omits_more_available,
    legacy_status_codes: stream.uses_legacy_status_codes,
    heliograph_sequence: stream.is_numbered,
    damping_seconds: stream.damping_seconds,
  }
}

type ChoiceValues = Pick<
  StreamRow,
  | 'profile'
  | 'spec_version'
  | 'subject_form'
  | 'reason_fields'
  | 'reason_details'
  | 'has_pairwise_identifiers'
  | 'pairwise_secret_sealed'
  | 'omits_more_available'
  | 'uses_legacy_status_codes'
  | 'is_numbered'
  | 'damping_seconds'
>

/** What the choices of a stream are made from. */
export interface ChoiceContext {
  readonly streamId: string
  readonly sealer: Sealer
  /** The stream as it is, or the profile that a new one begins with. */
  readonly base: StreamRow | StreamProfileName
  /** What stands before the members in the body, for refusals. */
  readonly pathPrefix: '' | 'ssf_stream.'
}

/**
 * The columns of the effective choices: those that are named, on the profile that is named, on what the
 * stream has. The secret of pairwise identifiers is made when they are first chosen and kept from then on.
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
  const preset =
    before === undefined || wanted.profile !== undefined
      ? STREAM_PROFILES[profile]
      : toChoices(before)
  const chosen = withoutContradictions(combine(preset, wanted), wanted, context)
  const secret =
    before?.pairwise_secret_sealed ??
    (chosen.hasPairwiseIdentifiers
      ? sealer.seal(newSecret(), pairwiseSecretContext(streamId))
      : null)
  return {
    profile,
    spec_version: chosen.specVersion,
    subject_form: chosen.subjectForm,
    reason_fields: inOrder(REASON_FIELDS, chosen.reasonFields),
    reason_details: inOrder(REASON_DETAILS, chosen.reasonDetails),
    has_pairwise_identifiers: chosen.hasPairwiseIdentifiers,
    pairwise_secret_sealed: secret,
    omits_more_available: chosen.omitsMoreAvailable,
    uses_legacy_status_codes: chosen.usesLegacyStatusCodes,
    is_numbered: chosen.isNumbered,
    damping_seconds: chosen.dampingSeconds,
  }
}

/** The place of the secret that the pairwise identifiers of a stream are derived from. */
export function pairwiseSecretContext(streamId: string): SealContext {
  return { table: 'ssf_stream', column: 'pairwise_secret_sealed', id: streamId }
}

function toChoices(stream: StreamRow): StreamChoices {
  return {
    specVersion: stream.spec_version,
    subjectForm: stream.subject_form,
    reasonFields: stream.reason_fields,
    reasonDetails: stream.reason_details,
    hasPairwiseIdentifiers: stream.has_pairwise_identifiers,
    omitsMoreAvailable: stream.omits_more_available,
    usesLegacyStatusCodes: stream.uses_legacy_status_codes,
    isNumbered: stream.is_numbered,
    dampingSeconds: stream.damping_seconds,
  }
}

function combine(preset: StreamChoices, input: ChoiceInput): StreamChoices {
  return {
    specVersion: input.specVersion ?? preset.specVersion,
    subjectForm: input.subjectForm ?? preset.subjectForm,
    reasonFields: input.reasonFields ?? preset.reasonFields,
    reasonDetails: input.reasonDetails ?? preset.reasonDetails,
    hasPairwiseIdentifiers: input.hasPairwiseIdentifiers ?? preset.hasPairwiseIdentifiers,
    omitsMoreAvailable: input.omitsMoreAvailable ?? preset.omitsMoreAvailable,
    usesLegacyStatusCodes: input.usesLegacyStatusCodes ?? preset.usesLegacyStatusCodes,
    isNumbered: input.isNumbered ?? preset.isNumbered,
    dampingSeconds: input.dampingSeconds ?? preset.dampingSeconds,
  }
}

/** An address or the name of a device would tell what pairwise identifiers are there to hide. */
function withoutContradictions(
  chosen: StreamChoices,
  input: ChoiceInput,
  { pathPrefix }: ChoiceContext,
): StreamChoices {
  if (!chosen.hasPairwiseIdentifiers) return chosen
  refuseIf([
    ...(chosen.subjectForm === 'email'
      ? [
          {
            path: `${pathPrefix}subject_form`,
            message: 'Email addresses do not go with pairwise identifiers.',
          },
        ]
      : []),
    ...(input.reasonDetails?.includes('device_name') === true
      ? [
          {
            path: `${pathPrefix}reason_details`,
            message: 'Names of devices do not go with pairwise identifiers.',
          },
        ]
      : []),
  ])
  const reasonDetails = chosen.reasonDetails.filter((detail) => detail !== 'device_name')
  return { ...chosen, reasonDetails }
}

function inOrder<Word extends string>(words: readonly Word[], chosen: readonly Word[]): Word[] {
  return words.filter((word) => chosen.includes(word))
}
