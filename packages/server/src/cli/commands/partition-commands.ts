import {
  keepPartitions,
  type PartitionStep,
} from '../../organisation/partitions/keep-partitions.ts'
import { readPartitionFigures } from '../../organisation/partitions/partition-read.ts'
import { toTable } from '../command-io.ts'
import { commandGroup, databaseCommand } from '../command.ts'
import { runWithProgress } from './run-with-progress.ts'

const MEBIBYTE = 1024 * 1024

const list = databaseCommand({
  name: 'list',
  description: 'list the tables that are partitioned, or become so, and how far each is',
  run: ({ services }) => readPartitionFigures(services.db),
  json: (tables) =>
    tables.map(({ name, state, partitions, othersRows, bytes, lastId, endId }) => ({
      name,
      state,
      partitions,
      rows_without_partition: othersRows,
      bytes,
      last_id: lastId,
      partitions_until_id: endId,
    })),
  text: (tables) =>
    toTable(tables, {
      TABLE: ({ name }) => name,
      STATE: ({ state }) => state,
      PARTITIONS: ({ partitions }) => String(partitions),
      SIZE: ({ bytes }) => `${(bytes / MEBIBYTE).toFixed(1)} MiB`,
      'LAST ID': ({ lastId }) => lastId,
      'MADE UNTIL': ({ endId }) => endId ?? '-',
      'ROWS OUTSIDE': ({ othersRows }) => String(othersRows),
    }),
})

const make = databaseCommand({
  name: 'make',
  description: 'take every step that the service would take by itself, and say which',
  run: ({ io, services }) =>
    runWithProgress(io, async ({ onProgress, signal }) => {
      const steps: PartitionStep[] = []
      const inUse = await keepPartitions(services.db, {
        onStep: (step) => {
          steps.push(step)
          onProgress(`${step.table}: ${step.step} ...`)
        },
        signal,
      })
      return { steps, inUse }
    }),
  json: ({ steps, inUse }) => ({ steps, in_use: inUse }),
  text: ({ steps, inUse }) => [
    ...steps.map(({ table, step }) => `${table}: ${step}`),
    ...inUse.map((table) => `${table}: in use by something that takes long; try again later`),
    ...(steps.length + inUse.length === 0 ? ['There is nothing to do.'] : []),
  ],
  isFailed: ({ inUse }) => inUse.length > 0,
})

/** `heliograph partitions list` and `make`. */
export const definition = commandGroup([list, make])
