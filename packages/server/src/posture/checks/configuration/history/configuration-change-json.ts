import type { Kysely } from 'kysely'
import { z } from 'zod'
import { toWire } from '../../../../platform/wire/to-wire.ts'
import { timestampSchema, toTimestamp } from '../../../../platform/wire/wire-values.ts'
import type { Schema } from '../../../../schema/schema.ts'
import {
  CONFIGURATION_CHANGE_LIST,
  type ConfigurationChange,
} from './configuration-change-store.ts'
import { toUndoEnd } from './undo-configuration.ts'

/** A change of a configuration on the wire. */
const configurationChangeSchema = z
  .object({
    id: z.string(),
    revision: z.int().describe('That the change led to.'),
    changed_at: timestampSchema,
    actor_type: z.enum(['User', 'ApiKey', 'System', 'Person']),
    actor_id: z.string().nullable(),
    actor_name: z.string(),
    before: z.record(z.string(), z.unknown()).describe('The members that changed, as they were.'),
    after: z.record(z.string(), z.unknown()),
    undoes_revision: z
      .int()
      .nullable()
      .describe('The revision that this change took back; null for any other change.'),
    can_be_undone_until: timestampSchema
      .nullable()
      .describe('Null once another change has followed.'),
    txn: z.string().describe('Shared with the audit entries and events of the change.'),
  })
  .meta({ id: 'CheckConfigurationChange' })

/** Changes of configurations as the API lists them. */
export function configurationChangeResource(db: Kysely<Schema>) {
  return {
    db,
    list: CONFIGURATION_CHANGE_LIST,
    item: configurationChangeSchema,
    toJson: (change: ConfigurationChange) =>
      toWire(configurationChangeSchema, change, {
        can_be_undone_until: toTimestamp(toUndoEnd(change)),
      }),
  }
}
