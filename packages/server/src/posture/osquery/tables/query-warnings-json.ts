/* What of a query some devices do not have, on the wire. */
import { z } from 'zod'
import { CHECK_PLATFORMS, type CheckPlatform } from '../../checks/check-definition.ts'
import { listQueryMisfits } from './query-fit.ts'

export const queryWarningsSchema = z
  .array(z.object({ platform: z.enum(CHECK_PLATFORMS), message: z.string() }))
  .describe(
    'Tables and columns of the SQL that osquery does not have on a platform, from the oldest release that devices may run. They refuse nothing: an extension may have more.',
  )

/** The warnings about a query; none while there is none. */
export function toQueryWarnings(
  sql: string,
  platforms: readonly CheckPlatform[],
): z.infer<typeof queryWarningsSchema> {
  if (sql.trim() === '') return []
  return listQueryMisfits(sql, platforms).map(({ platform, message }) => ({ platform, message }))
}
