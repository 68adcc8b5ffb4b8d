import { DAY_MS, SECOND_MS } from '../../platform/clock.ts'
import { readRetentionFigures } from '../../organisation/retention/retention-read.ts'
import { toRetentionJson } from '../../organisation/retention/retention-json.ts'
import { toTable } from '../command-io.ts'
import { commandGroup, databaseCommand } from '../command.ts'

const DAY_SECONDS = DAY_MS / SECOND_MS
const MEBIBYTE = 1024 * 1024

const show = databaseCommand({
  name: 'show',
  description: 'show what is kept for how long, how much there is, and what was deleted',
  run: async ({ services }) => (await readRetentionFigures(services.db)).map(toRetentionJson),
  json: (policies) => policies,
  text: (policies) =>
    toTable(policies, {
      NAME: ({ name }) => name,
      KEPT: ({ keeps_seconds: seconds }) => toKeptText(seconds),
      ROWS: ({ rows }) => String(rows),
      SIZE: ({ bytes }) => `${(bytes / MEBIBYTE).toFixed(1)} MiB`,
      OLDEST: ({ oldest_at: at }) => at ?? '-',
      'LAST RUN': (each) => each.last_finished_at ?? (each.last_started_at ? 'under way' : '-'),
      'DELETED THEN': ({ last_ended: count }) => String(count),
      'IN ALL': ({ total_ended: count }) => String(count),
      SETTING: ({ setting }) => setting ?? '-',
      ERROR: ({ last_error: error }) => error ?? '-',
    }),
})

function toKeptText(seconds: number | null): string {
  if (seconds === null) return 'for ever'
  if (seconds === 0) return 'to its end'
  return seconds % DAY_SECONDS === 0 ? `${seconds / DAY_SECONDS} days` : `${seconds / 60} minutes`
}

/** `heliograph retention show`. */
export const definition = commandGroup([show])
