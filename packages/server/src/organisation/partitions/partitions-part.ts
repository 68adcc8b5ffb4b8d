import type { Foundation, ServicePart } from '../../changes/foundation.ts'
import { periodicJob } from '../../schema/jobs.ts'
import { keepPartitions } from './keep-partitions.ts'

/** Makes partitions ahead, and partitions what an older version left in one table. */
export function createPartitionsPart({ db, log }: Pick<Foundation, 'db' | 'log'>): ServicePart {
  const stopping = new AbortController()
  return {
    name: 'partitions',
    roles: ['worker'],
    jobs: [
      periodicJob('partitions', async () => {
        const inUse = await keepPartitions(db, {
          onStep: ({ table, step }) => log.info({ table, step }, 'database.partitions'),
          signal: stopping.signal,
        })
        for (const table of inUse) {
          log.info(
            { table },
            'a table is in use by something that takes long: its partitions are made later',
          )
        }
      }),
    ],
    endWaiting: () => stopping.abort(),
  }
}
