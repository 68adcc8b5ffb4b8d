import type { LiveQueryResult } from '../api/generated/types.gen.ts'
import { toCsv } from '../kit/csv.ts'
import { listColumns } from '../kit/rows-table.tsx'

/** What the export needs of an answer. */
type Answer = Pick<LiveQueryResult, 'device_name' | 'results'> & {
  readonly device_information: Pick<LiveQueryResult['device_information'], 'identifier'>
}

/** The rows of all devices, each with its device: in columns of names that the answers do not use themselves. */
export function toAnswersCsv(answers: readonly Answer[]): string {
  const columns = listColumns(answers.flatMap(({ results }) => results))
  const device = findFreeName('device', columns)
  const deviceId = findFreeName('device_id', columns)
  const rows = answers.flatMap((answer) =>
    answer.results.map((row) => ({
      ...row,
      [device]: answer.device_name,
      [deviceId]: answer.device_information.identifier,
    })),
  )
  return toCsv([device, deviceId, ...columns], rows)
}

/** Such as `asked_device` where osquery's table has a `device`. */
function findFreeName(name: string, taken: readonly string[]): string {
  return taken.includes(name) ? findFreeName(`asked_${name}`, taken) : name
}
