/*
 * One decision about many records: each in a change of its own, so that one that is refused keeps none of the
 * others from being decided. Deciding again what is decided changes nothing, so that a repetition is harmless.
 */
import { z } from 'zod'
import { AppError } from '../platform/app-error.ts'
import { recordIdInput } from '../platform/wire/body-values.ts'
import type { Change, ChangeOrigin, RunChange } from './change.ts'

/** How many records one request decides. */
const DECIDED_MAX = 100

/** The ids of the records that a request decides, each once. */
export const decidedIdsInput = z
  .array(recordIdInput)
  .min(1, 'Must name at least one request')
  .max(DECIDED_MAX, `Must name at most ${DECIDED_MAX} requests`)
  .transform((ids) => [...new Set(ids)])

/** What became of each record, on the wire. */
export const decisionsSchema = z
  .object({
    decided_count: z.int(),
    refused_count: z.int(),
    data: z
      .array(
        z.object({
          id: z.string(),
          decided: z.boolean(),
          code: z
            .string()
            .nullable()
            .describe('Why it was refused; null for one that was decided.'),
          message: z.string().nullable(),
        }),
      )
      .describe('In the order of the request.'),
  })
  .meta({ id: 'Decisions', description: 'What became of each of the requests.' })

/** Decides records one after the other. Faults that are no refusals end it. */
export async function decideEach(
  runChange: RunChange,
  origin: ChangeOrigin,
  ids: readonly string[],
  decide: (change: Change, id: string) => Promise<unknown>,
): Promise<z.input<typeof decisionsSchema>> {
  const data: z.input<typeof decisionsSchema>['data'] = []
  // The answer to a repetition is kept after all of them, not with one.
  const alone = { ...origin, transactionHooks: undefined }
  for (const id of ids) {
    const refusal = await findRefusal(() => runChange(alone, (change) => decide(change, id)))
    data.push({
      id,
      decided: refusal === undefined,
      code: refusal?.code ?? null,
      message: refusal?.message ?? null,
    })
  }
  const decidedCount = data.filter(({ decided }) => decided).length
  return { decided_count: decidedCount, refused_count: data.length - decidedCount, data }
}

const REFUSALS: ReadonlySet<string> = new Set(['not_found', 'conflict', 'invalid_body'])

async function findRefusal(work: () => Promise<unknown>): Promise<AppError | undefined> {
  try {
    await work()
    return undefined
  } catch (error) {
    if (error instanceof AppError && REFUSALS.has(error.code)) return error
    throw error
  }
}
