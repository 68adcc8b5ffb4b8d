import { z } from 'zod'
import { toWire } from '../../../platform/wire/to-wire.ts'
import { timestampSchema } from '../../../platform/wire/wire-values.ts'
import { CHECK_PLATFORMS, type CheckPlatform } from '../check-definition.ts'
import { queryWarningsSchema, toQueryWarnings } from '../../osquery/tables/query-warnings-json.ts'
import { toSectionStatus, type CustomCheckDraft } from './draft-readiness.ts'

const sectionStatusSchema = z.enum(['missing', 'bad', 'good'])

/** The draft of a custom check on the wire. */
export const customCheckDraftSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    slug: z.string(),
    description: z.string(),
    issue_title: z.string(),
    osquery_sql: z.string(),
    platforms: z.array(z.enum(CHECK_PLATFORMS)),
    rationale_template: z.string(),
    fix_instructions_template: z.string(),
    privacy_info: z.string(),
    check_type: z.enum(['osquery', 'external']),
    target_type: z.enum(['devices', 'people']),
    requires_primary_key: z.boolean(),
    primary_key_column: z.string(),
    published: z.boolean().describe('Whether there is a check that was made from this draft.'),
    custom_check_id: z.string().nullable().describe('That check.'),
    published_at: timestampSchema.nullable(),
    has_unpublished_changes: z
      .boolean()
      .describe('Whether the draft was edited since it was published.'),
    osquery_sql_status: sectionStatusSchema,
    notification_templates_status: sectionStatusSchema,
    details_status: sectionStatusSchema,
    privacy_center_details_status: sectionStatusSchema,
    publishable: z.boolean().describe('Whether every section is good.'),
    problems: z
      .array(z.object({ field: z.string(), message: z.string() }))
      .describe('What is missing or bad.'),
    warnings: queryWarningsSchema,
    template_data_examples: z.string().describe('A JSON object as text.'),
    privacy_center_example_data: z.string().describe('A JSON object as text.'),
    created_at: timestampSchema,
    updated_at: timestampSchema,
  })
  .meta({ id: 'CustomCheckDraft' })

/** The wire form of a draft. */
export function toDraftJson(draft: CustomCheckDraft) {
  const { problems } = draft
  return toWire(customCheckDraftSchema, draft, {
    platforms: draft.platforms as CheckPlatform[],
    published: draft.customCheckId !== null,
    osquery_sql_status: toSectionStatus(problems, 'osquery_sql'),
    notification_templates_status: toSectionStatus(problems, 'notification_templates'),
    details_status: toSectionStatus(problems, 'details'),
    privacy_center_details_status: toSectionStatus(problems, 'privacy_center_details'),
    publishable: problems.length === 0,
    warnings:
      draft.checkType === 'osquery'
        ? toQueryWarnings(draft.osquerySql, draft.platforms as CheckPlatform[])
        : [],
    template_data_examples: JSON.stringify(draft.templateDataExamples),
    privacy_center_example_data: JSON.stringify(draft.privacyCenterExampleData),
  })
}
