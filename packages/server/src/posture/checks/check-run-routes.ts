import { z } from 'zod'
import type { RunChange } from '../../changes/change.ts'
import { changeRoute } from '../../changes/change-routes.ts'
import { recordIdSchema } from '../../platform/wire/wire-values.ts'
import type { ApiRoute } from '../../schema/operations.ts'
import { CHECK_ROW_STATUSES, CHECK_STATUS_COLUMN } from './check-definition.ts'
import { RESULT_ROWS_MAX } from './parse-check-result.ts'
import { submitCheckRun, type CheckRunSubject, type SubmittedCheckRun } from './submit-check-run.ts'

export interface CheckRunRouteDependencies {
  readonly runChange: RunChange
}

const EMAIL_LENGTH_MAX = 254
const SUBJECT_MEMBERS = ['device_id', 'person_id', 'person_email'] as const

const bodySchema = z
  .strictObject({
    device_id: recordIdSchema.optional(),
    person_id: recordIdSchema.optional(),
    person_email: z
      .string()
      .trim()
      .min(1)
      .max(EMAIL_LENGTH_MAX)
      .optional()
      .describe('The email address of a person, or another one of their identity.'),
    check_data: z
      .string()
      .describe(
        `JSON: an object, or an array of up to ${RESULT_ROWS_MAX} of them, each with \`${CHECK_STATUS_COLUMN}\` (${CHECK_ROW_STATUSES.join(', ')}).`,
      ),
  })
  .superRefine((body, context) => {
    if (SUBJECT_MEMBERS.filter((name) => body[name] !== undefined).length !== 1) {
      const message = `Give exactly one of ${SUBJECT_MEMBERS.join(', ')}`
      context.addIssue({ code: 'custom', path: [], message })
    }
    const problem = findDataProblem(parseData(body.check_data))
    if (problem !== undefined) {
      context.addIssue({ code: 'custom', path: ['check_data'], message: problem })
    }
  })

const checkRunSchema = z
  .object({
    check_id: z.int(),
    device_id: z.int().nullable(),
    status: z.enum(CHECK_ROW_STATUSES).describe('The verdict over all rows.'),
    check_data: z.string(),
    person_id: z.int().nullable(),
    person_name: z.string().nullable(),
    person_email: z.string().nullable(),
  })
  .meta({ id: 'ExternalCheckRun' })

/** Taking what other systems report. */
export function checkRunRoutes({ runChange }: CheckRunRouteDependencies): ApiRoute[] {
  return [
    changeRoute(runChange, {
      method: 'POST',
      path: '/checks/:id/runs',
      summary: 'Submit a run of an external check',
      description:
        'A check that targets devices takes `device_id`, one that targets people `person_id` or `person_email`. Issues of a person count for every device that is registered to the person.',
      tags: ['Checks'],
      permission: 'Submit Check Runs',
      body: bodySchema,
      example: {
        body: { device_id: 1, check_data: '{"KOLIDE_CHECK_STATUS":"PASS","source":"inventory"}' },
      },
      responses: { 200: checkRunSchema },
      handler: async ({ change, params, body }) => {
        const run = await submitCheckRun(change, {
          checkId: params.id,
          subject: toSubject(body),
          rows: toRows(parseData(body.check_data)),
        })
        return toCheckRunJson(run, body.check_data)
      },
    }),
  ]
}

function toSubject(body: z.output<typeof bodySchema>): CheckRunSubject {
  for (const by of SUBJECT_MEMBERS) {
    const value = body[by]
    if (value !== undefined) return { by, value }
  }
  throw new Error('the schema lets no body without a subject through')
}

/** Undefined for a text that is not JSON. */
function parseData(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function toRows(data: unknown): readonly unknown[] {
  return Array.isArray(data) ? data : [data]
}

function findDataProblem(data: unknown): string | undefined {
  if (data === undefined) return 'Must be JSON'
  const rows = toRows(data)
  if (rows.length === 0) return 'Must hold at least one element'
  if (rows.length > RESULT_ROWS_MAX) return `Must hold at most ${RESULT_ROWS_MAX} elements`
  return rows.every(hasVerdict)
    ? undefined
    : `Each element must be an object whose ${CHECK_STATUS_COLUMN} is one of ${CHECK_ROW_STATUSES.join(', ')}`
}

function hasVerdict(row: unknown): boolean {
  if (typeof row !== 'object' || row === null || Array.isArray(row)) return false
  const word: unknown = (row as Record<string, unknown>)[CHECK_STATUS_COLUMN]
  return CHECK_ROW_STATUSES.some((status) => status === word)
}

function toCheckRunJson(run: SubmittedCheckRun, checkData: string): z.input<typeof checkRunSchema> {
  return {
    check_id: Number(run.checkId),
    device_id: run.deviceId === null ? null : Number(run.deviceId),
    status: run.status,
    check_data: checkData,
    person_id: run.person === null ? null : Number(run.person.id),
    person_name: run.person?.name ?? null,
    person_email: run.person?.email ?? null,
  }
}
