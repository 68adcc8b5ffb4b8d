import type { Kysely } from 'kysely'
import { z } from 'zod'
import { listLiveKeysWith } from '../../organisation/api-keys/api-key-store.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { toWire } from '../../platform/wire/to-wire.ts'
import { timestampSchema } from '../../platform/wire/wire-values.ts'
import { route, type ApiRoute } from '../../schema/operations.ts'
import type { Schema } from '../../schema/schema.ts'
import { readProvisioningFigures } from './scim-settings-read.ts'

/** What a key needs to provision people. */
const SCIM_PERMISSION = 'Manage People'

const scimKeySchema = z
  .object({
    id: z.string(),
    name: z.string(),
    secret_last_four: z.string(),
    expires_at: timestampSchema.nullable(),
    last_used_at: timestampSchema.nullable().describe('A few seconds late; null for never.'),
  })
  .meta({ id: 'ScimKey' })

const scimSettingsSchema = z
  .object({
    base_url: z.string().describe('What the identity provider asks for as the address of SCIM.'),
    permission: z
      .string()
      .describe('What an API key has to hold to be the token of an identity provider.'),
    keys: z.array(scimKeySchema).describe('The live API keys that hold it, by id.'),
    active_user_count: z.int(),
    inactive_user_count: z.int().describe('People whom the identity provider has switched off.'),
    group_count: z.int(),
  })
  .meta({ id: 'ScimSettings' })

export interface ScimSettingsDependencies extends Pick<Foundation, 'clock'> {
  readonly db: Kysely<Schema>
  /** What the world calls the service, without a slash at the end. */
  readonly baseUrl: string
}

/** What an identity provider is set up with, and what has come of it. */
export function scimSettingsRoutes({ db, clock, baseUrl }: ScimSettingsDependencies): ApiRoute[] {
  return [
    route({
      method: 'GET',
      path: '/scim_settings',
      summary: 'Show how people are provisioned',
      description:
        'The token of an identity provider is an API key: create, rotate and revoke it under `/api_keys`.',
      tags: ['People'],
      permission: SCIM_PERMISSION,
      responses: { 200: scimSettingsSchema },
      handler: async () => {
        const keys = await listLiveKeysWith(db, SCIM_PERMISSION, clock.now())
        return toWire(scimSettingsSchema, await readProvisioningFigures(db), {
          base_url: `${baseUrl}/scim/v2`,
          permission: SCIM_PERMISSION,
          keys: keys.map((key) => toWire(scimKeySchema, key)),
        })
      },
    }),
  ]
}
