/* What retention keeps, on the wire: the same for the API and the command line. */
import { z } from 'zod'
import { DAY_MS, SECOND_MS } from '../../platform/clock.ts'
import { timestampSchema, toTimestamp } from '../../platform/wire/wire-values.ts'
import type { RetentionFacts } from '../../schema/retention-facts.ts'
import { RETENTION } from '../../schema/retention.ts'
import type { RetentionFigures } from './retention-read.ts'

/** A policy of retention on the wire. */
export const retentionPolicySchema = z
  .object({
    name: z.string(),
    description: z.string(),
    table: z.string(),
    setting: z
      .string()
      .nullable()
      .describe('The setting that changes the time; null where it is fixed.'),
    keeps_seconds: z
      .number()
      .nullable()
      .describe('How old a row may become; null keeps it for ever.'),
    rows: z.number().describe('Rows of the table; an estimate where it is large.'),
    bytes: z.number().describe('The size of the table with its indexes.'),
    oldest_at: timestampSchema
      .nullable()
      .describe('What the age of the oldest row counts from; null when there is none.'),
    last_started_at: timestampSchema.nullable().describe('When the table was last gone through.'),
    last_finished_at: timestampSchema
      .nullable()
      .describe('When that was done; null while it is under way.'),
    last_ended: z.number().describe('Rows that were deleted, or emptied, then.'),
    total_ended: z.number().describe('Rows that were ever deleted, or emptied.'),
    last_error: z.string().nullable(),
  })
  .meta({ id: 'RetentionPolicy' })

/** The wire form of a policy with its figures. */
export function toRetentionJson(figures: RetentionFigures): z.infer<typeof retentionPolicySchema> {
  const { name } = figures
  const { description, keeps, table }: RetentionFacts = RETENTION[name]
  return {
    name,
    description,
    table,
    setting: 'setting' in keeps ? keeps.setting : null,
    keeps_seconds: toKeptSeconds(figures, keeps),
    rows: figures.rows,
    bytes: figures.bytes,
    oldest_at: toTimestamp(figures.oldestAt),
    last_started_at: toTimestamp(figures.passStartedAt),
    last_finished_at: toTimestamp(figures.passFinishedAt),
    last_ended: figures.passCount,
    total_ended: figures.totalCount,
    last_error: figures.error,
  }
}

/** What the workers keep by; before one has started, the default. */
function toKeptSeconds(
  { keepsMs }: RetentionFigures,
  keeps: RetentionFacts['keeps'],
): number | null {
  const ms = keepsMs === undefined ? toDefaultMs(keeps) : keepsMs
  return ms === null ? null : ms / SECOND_MS
}

function toDefaultMs(keeps: RetentionFacts['keeps']): number | null {
  if ('ms' in keeps) return keeps.ms
  return keeps.days === 0 ? null : keeps.days * DAY_MS
}
