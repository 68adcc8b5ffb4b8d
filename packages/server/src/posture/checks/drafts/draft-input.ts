/*
 * The bodies that create and change drafts. Owns what a client may write; a draft may be incomplete,
 * so whether it can be published is told by draft-readiness.ts.
 */
import { z } from 'zod'
import type { CamelCased } from '../../../platform/db/record-table.ts'
import { jsonObjectInput, textInput } from '../../../platform/wire/body-values.ts'
import { toStorableText } from '../../../platform/storable-text.ts'
import { CHECK_PLATFORMS, CUSTOM_SLUG_PREFIX } from '../check-definition.ts'
import { TEMPLATE_VARIABLE_ROOTS } from '../render-template.ts'
import { QUERY_LENGTH_MAX } from './draft-sql.ts'

const NAME_LENGTH_MAX = 100
const SLUG_LENGTH_MAX = 100
const DESCRIPTION_LENGTH_MAX = 500
const ISSUE_TITLE_LENGTH_MAX = 150
const RATIONALE_LENGTH_MAX = 8_000
const FIX_INSTRUCTIONS_LENGTH_MAX = 16_000
const PRIVACY_INFO_LENGTH_MAX = 1_000
const COLUMN_LENGTH_MAX = 100
const EXAMPLES_LENGTH_MAX = 32 * 1024
const SLUG = new RegExp(`^${CUSTOM_SLUG_PREFIX}[a-z0-9]+(-[a-z0-9]+)*$`)

/** A text that may still be empty. */
function draftText(lengthMax: number) {
  return z
    .string()
    .max(lengthMax, `Must be at most ${lengthMax} characters long`)
    .transform(toStorableText)
}

function objectOf(lengthMax: number, names: readonly string[]) {
  return jsonObjectInput(lengthMax).superRefine((object, context) => {
    for (const name of Object.keys(object)) {
      if (names.includes(name)) continue
      context.addIssue({
        code: 'custom',
        path: [name],
        message: `This member does not exist. Allowed: ${names.join(', ')}`,
      })
    }
  })
}

const shape = {
  slug: z
    .string()
    .max(SLUG_LENGTH_MAX)
    .regex(SLUG, `Must be kebab-case and begin with ${CUSTOM_SLUG_PREFIX}`)
    .optional()
    .describe('Made from the name when it is left out. Fixed once the draft is published.'),
  description: draftText(DESCRIPTION_LENGTH_MAX).optional(),
  issue_title: draftText(ISSUE_TITLE_LENGTH_MAX).optional(),
  check_type: z
    .enum(['osquery', 'external'])
    .optional()
    .describe('`external` checks are reported by other systems. Fixed once published.'),
  target_type: z.enum(['devices', 'people']).optional().describe('Fixed once published.'),
  osquery_sql: draftText(QUERY_LENGTH_MAX).optional(),
  platforms: z
    .array(z.enum(CHECK_PLATFORMS))
    .transform((platforms) => CHECK_PLATFORMS.filter((platform) => platforms.includes(platform)))
    .optional(),
  requires_primary_key: z
    .boolean()
    .optional()
    .describe('Whether the check opens one issue per row, told apart by `primary_key_column`.'),
  primary_key_column: draftText(COLUMN_LENGTH_MAX).optional(),
  rationale_template: draftText(RATIONALE_LENGTH_MAX).optional().describe('Markdown with Liquid.'),
  fix_instructions_template: draftText(FIX_INSTRUCTIONS_LENGTH_MAX)
    .optional()
    .describe('Markdown with Liquid.'),
  privacy_info: draftText(PRIVACY_INFO_LENGTH_MAX).optional(),
  template_data_examples: objectOf(EXAMPLES_LENGTH_MAX, TEMPLATE_VARIABLE_ROOTS)
    .optional()
    .describe('Values to try the templates with, by the name of the variable.'),
  privacy_center_example_data: objectOf(EXAMPLES_LENGTH_MAX, CHECK_PLATFORMS)
    .optional()
    .describe('What leaves a device, for example, by platform.'),
} as const

/** What creates a draft. */
export const createDraftBody = z.strictObject({ name: textInput(NAME_LENGTH_MAX), ...shape })

/** What changes a draft; members that are left out stay. */
export const changeDraftBody = z.strictObject({
  name: textInput(NAME_LENGTH_MAX).optional(),
  ...shape,
})

export type NewDraft = CamelCased<z.output<typeof createDraftBody>>
export type DraftChanges = CamelCased<z.output<typeof changeDraftBody>>

/** A slug for a name: its Latin letters and digits, cut to what a slug may be long. */
export function toCustomSlug(name: string): string {
  const words = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
  const text = words.length === 0 ? 'check' : words.join('-')
  const rest = SLUG_LENGTH_MAX - CUSTOM_SLUG_PREFIX.length - SUFFIX_LENGTH_MAX
  return CUSTOM_SLUG_PREFIX + text.slice(0, rest).replace(/-+$/, '')
}

/** Room for the number that makes a slug unique. */
const SUFFIX_LENGTH_MAX = 5
