import { countSealedSecrets, resealSecrets } from '../../platform/secrets/reseal-secrets.ts'
import type { SealedCount } from '../../platform/secrets/sealed-column-store.ts'
import type { MasterKeys } from '../../platform/secrets/master-key.ts'
import { SEALED_COLUMNS } from '../../schema/sealed-columns.ts'
import { createProgress, toTable } from '../command-io.ts'
import { commandGroup, databaseCommand } from '../command.ts'

const status = databaseCommand({
  name: 'status',
  description: 'show how many secrets each master key seals',
  async run({ services: { db, masterKeys } }) {
    const counts = await countSealedSecrets({ db, columns: SEALED_COLUMNS })
    const stateOf = nameKeys(masterKeys)
    return counts.map((count) => ({ ...count, state: stateOf(count.keyId) }))
  },
  json: (counts) => counts.map((count) => ({ ...toJson(count), state: count.state })),
  text: (counts) =>
    toTable(counts, {
      KEY: ({ keyId }) => keyId,
      STATE: ({ state }) => state,
      SECRETS: ({ count }) => String(count),
      IN: ({ table, column }) => `${table}.${column}`,
    }),
})

const reseal = databaseCommand({
  name: 'reseal',
  description:
    'seal every secret under the current master key, so that former ones can be given up',
  async run({ change, io, services: { db, masterKeys, sealer } }) {
    const { id } = masterKeys.current
    const keyId = id.toString('hex')
    const progress = createProgress(io)
    try {
      const dependencies = { db, sealer, keyId: id, columns: SEALED_COLUMNS }
      const report = await resealSecrets(dependencies, io.signal, ({ column, resealed }) =>
        progress.update(`Sealed ${resealed} secrets, now ${column.table}.${column.column} ...`),
      )
      if (report.resealed > 0) {
        await change((tx) => {
          tx.recordAudit({
            action: 'secrets.resealed',
            target: { type: 'master_key', id: keyId },
            description: `sealed ${report.resealed} secrets under the master key ${keyId}`,
          })
          return Promise.resolve()
        })
      }
      return { keyId, ...report }
    } finally {
      progress.end()
    }
  },
  json: ({ keyId, resealed, remaining }) => ({
    key_id: keyId,
    resealed,
    remaining: remaining.map(toJson),
  }),
  text: ({ keyId, resealed, remaining }) => [
    `Sealed ${resealed} secrets under the master key ${keyId}.`,
    ...(remaining.length === 0
      ? [
          'Nothing is sealed under another key: former keys can be taken out of the setting or file.',
        ]
      : [
          'Still sealed under other keys:',
          ...remaining.map(describeRemaining),
          'Give the former keys behind the new one, and start every process with the same keys.',
        ]),
  ],
  isFailed: ({ remaining }) => remaining.length > 0,
})

/** `heliograph secrets status|reseal`. */
export const definition = commandGroup([status, reseal])

function nameKeys({ current, previous }: MasterKeys): (keyId: string) => string {
  const states = new Map([
    ...previous.map(({ id }) => [id.toString('hex'), 'former'] as const),
    [current.id.toString('hex'), 'current'],
  ])
  return (keyId) => states.get(keyId) ?? 'unknown'
}

function describeRemaining({ count, keyId, table, column }: SealedCount): string {
  return `  ${count} in ${table}.${column} under ${keyId}`
}

function toJson({ table, column, keyId: key_id, count }: SealedCount) {
  return { table, column, key_id, count }
}
