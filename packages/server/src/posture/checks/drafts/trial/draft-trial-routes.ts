/*
 * Trying a draft out before it is published: on one device, on given rows, and as its reader sees it.
 */
import { z } from 'zod'
import { toRecord } from '../../../../platform/db/record-table.ts'
import { changeRoute } from '../../../../changes/change-routes.ts'
import { parseId } from '../../../../platform/ids.ts'
import { toWire } from '../../../../platform/wire/to-wire.ts'
import { recordIdInput } from '../../../../platform/wire/body-values.ts'
import { timestampSchema } from '../../../../platform/wire/wire-values.ts'
import { route, type ApiRoute } from '../../../../schema/operations.ts'
import { createCampaignBody } from '../../../live-queries/campaign-input.ts'
import { createCampaign } from '../../../live-queries/create-campaign.ts'
import { assertNamesAllowed } from '../../../live-queries/refused-names.ts'
import { LIVE_RESULT_ROWS_MAX } from '../../../live-queries/live-query.ts'
import { parseRequestPart } from '../../../../platform/http/validation.ts'
import { CHECK_PLATFORMS } from '../../check-definition.ts'
import type { ParsedCheckResult } from '../../parse-check-result.ts'
import { DRAFT_LIST } from '../draft-read.ts'
import type { CustomCheckDraftDependencies } from '../draft-routes.ts'
import { getDraftRun, type DraftRun } from './draft-run-read.ts'
import { judgeDraft, renderForReaders } from './try-draft.ts'

const VALUE_LENGTH_MAX = 8_192
const SHOWN_ISSUES_MAX = 100
const NAME_LENGTH_MAX = 100

const rowSchema = z.record(z.string().max(200), z.string().max(VALUE_LENGTH_MAX))

const verdictSchema = z
  .object({
    status: z
      .enum(['passing', 'failing', 'errored', 'unknown', 'inapplicable'])
      .describe('What the result of the check would be.'),
    error_message: z.string().nullable(),
    issues: z
      .array(
        z.object({ issue_value: z.string().nullable(), row: z.record(z.string(), z.string()) }),
      )
      .describe('The issues that would be opened, the first hundred.'),
    issues_count: z.int(),
  })
  .meta({ id: 'DraftVerdict' })

const runSchema = z
  .object({
    live_query_campaign_id: z.string(),
    device_id: z.string(),
    state: z.enum(['waiting', 'successful', 'errored']),
    rows: z.array(z.record(z.string(), z.string())),
    error_message: z.string().nullable(),
    warning_message: z.string().nullable(),
    answered_at: timestampSchema.nullable(),
    verdict: verdictSchema.nullable().describe('Null while the device has not answered.'),
  })
  .meta({ id: 'DraftRun', description: 'The query of a draft on one device.' })

const previewSchema = z
  .object({
    verdict: verdictSchema.nullable().describe('Null where no rows were given.'),
    readers: z
      .array(
        z.object({
          platform: z.enum(CHECK_PLATFORMS),
          title: z.string(),
          rationale: z.string().nullable().describe('Markdown; null where it cannot be rendered.'),
          fix_instructions: z.string().nullable(),
          problems: z.array(z.string()),
          privacy_info: z.string(),
          privacy_example: z.unknown(),
        }),
      )
      .describe('What somebody at a device reads, for each platform of the draft.'),
  })
  .meta({ id: 'DraftPreview' })

const ACCESS = { tags: ['Custom check drafts'], versions: ['2026-04-07'] } as const
/** Whoever may not see what devices answer to live queries may not see it here. */
const ASKING = { ...ACCESS, tags: ['Custom check drafts', 'Live queries'] } as const

/** Trying drafts out. */
export function draftTrialRoutes(dependencies: CustomCheckDraftDependencies): ApiRoute[] {
  return [...runRoutes(dependencies), previewRoute(dependencies)]
}

function runRoutes({ db, runChange, refusedNames }: CustomCheckDraftDependencies): ApiRoute[] {
  return [
    changeRoute(runChange, {
      ...ASKING,
      method: 'POST',
      path: '/custom_check_drafts/:id/runs',
      summary: 'Run the query of a draft on a device',
      description:
        'Asks one device by a live query, which it answers with its next check-in. The run says what came of it.',
      permission: 'Create Live Query',
      body: z.strictObject({ device_id: recordIdInput }),
      example: { body: { device_id: 1 } },
      responses: { 200: runSchema },
      handler: async ({ change, params, body }) => {
        const draft = await DRAFT_LIST.get(change.tx, params.id)
        assertNamesAllowed(draft.osquerySql, refusedNames, 'osquery_sql')
        const name = `Trial of ${draft.name}`.slice(0, NAME_LENGTH_MAX)
        const sql = draft.osquerySql
        const input = { name, sql, targeted_device_ids: [body.device_id] }
        // The SQL of a draft may be unfinished: it is held to what a live query may be.
        const campaign = parseRequestPart(createCampaignBody, input, 'body')
        const { id } = await createCampaign(change, toRecord(campaign))
        return toRunJson(await getDraftRun(change.tx, id), undefined)
      },
    }),
    route({
      ...ASKING,
      method: 'GET',
      path: '/custom_check_drafts/:id/runs/:campaign_id',
      summary: 'Show the run of a draft on a device',
      description: 'With what the answer would be judged as, by the draft as it is now.',
      permission: null,
      responses: { 200: runSchema },
      handler: async ({ params }) => {
        const draft = await DRAFT_LIST.get(db, params.id)
        const run = await getDraftRun(db, parseId(params.campaign_id, 'run of a draft'))
        if (run.state === 'waiting') return toRunJson(run, undefined)
        const statusCode = run.state === 'successful' ? 0 : 1
        const answer = { rows: run.rows, statusCode, message: run.errorMessage ?? '' }
        return toRunJson(run, judgeDraft(draft, answer))
      },
    }),
  ]
}

function previewRoute({ db }: CustomCheckDraftDependencies): ApiRoute {
  return route({
    ...ACCESS,
    method: 'POST',
    path: '/custom_check_drafts/:id/preview',
    summary: 'Preview a draft',
    description:
      'What the given rows would be judged as, and what somebody at a device of each platform would read. Without rows, the texts are those of the example data. Nothing is changed.',
    permission: 'Manage Checks',
    body: z.strictObject({ rows: z.array(rowSchema).max(LIVE_RESULT_ROWS_MAX).optional() }),
    example: { body: { rows: [{ KOLIDE_CHECK_STATUS: 'FAIL' }] } },
    responses: { 200: previewSchema },
    handler: async ({ params, body: { rows } }) => {
      const draft = await DRAFT_LIST.get(db, params.id)
      const verdict =
        rows === undefined ? undefined : judgeDraft(draft, { rows, statusCode: 0, message: '' })
      return {
        verdict: verdict === undefined ? null : toVerdictJson(verdict),
        readers: renderForReaders(draft, verdict).map((view) => ({
          platform: view.platform,
          title: view.title,
          rationale: view.rationale,
          fix_instructions: view.fixInstructions,
          problems: [...view.problems],
          privacy_info: view.privacyInfo,
          privacy_example: view.privacyExample,
        })),
      }
    },
  })
}

function toRunJson(run: DraftRun, verdict: ParsedCheckResult | undefined) {
  return toWire(runSchema, run, {
    live_query_campaign_id: run.campaignId,
    rows: [...run.rows],
    verdict: verdict === undefined ? null : toVerdictJson(verdict),
  })
}

function toVerdictJson({ status, errorMessage, failures }: ParsedCheckResult) {
  return {
    status,
    error_message: errorMessage,
    issues_count: failures.length,
    issues: failures
      .slice(0, SHOWN_ISSUES_MAX)
      .map(({ issueValue, row }) => ({ issue_value: issueValue, row })),
  }
}
