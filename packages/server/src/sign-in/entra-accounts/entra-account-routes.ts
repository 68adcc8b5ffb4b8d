import { z } from 'zod'
import { changeRoute } from '../../changes/change-routes.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { recordIdInput } from '../../platform/wire/body-values.ts'
import { toWire } from '../../platform/wire/to-wire.ts'
import { timestampSchema } from '../../platform/wire/wire-values.ts'
import { listRoute, type ApiRoute } from '../../schema/operations.ts'
import { deleteEntraAccount, listEntraAccounts } from './entra-account-store.ts'

const PATH = '/sign_in_entra_accounts'

const accountSchema = z
  .object({
    id: z.string(),
    person_id: z.string(),
    tenant_id: z.string(),
    object_id: z.string().describe('Of the account in the tenant: it stays when its name changes.'),
    username: z.string().describe('What Entra called the account when it was first seen.'),
    first_seen_at: timestampSchema,
  })
  .meta({ id: 'EntraAccount', description: 'The account of Entra by which a person signs in.' })

const listedSchema = accountSchema
  .extend({ person_email: z.string() })
  .meta({ id: 'ListedEntraAccount' })

/** The operations on the accounts of Entra by which people are known. */
export function entraAccountRoutes({
  db,
  runChange,
}: Pick<Foundation, 'db' | 'runChange'>): ApiRoute[] {
  return [
    listRoute({
      tags: ['Sign-in'],
      permission: 'Read Sign-in',
      path: PATH,
      summary: 'List accounts of Entra',
      filters: z.object({ person_id: recordIdInput.optional() }),
      item: listedSchema,
      fetch: ({ filters, window }) => listEntraAccounts(db, filters.person_id, window),
      toJson: (account) => toWire(listedSchema, account),
    }),
    changeRoute(runChange, {
      tags: ['Sign-in'],
      permission: 'Manage Sign-in',
      method: 'DELETE',
      path: `${PATH}/:id`,
      summary: 'Forget the account of Entra of a person',
      description:
        'The next account that Entra names by an address of the person becomes theirs: only where the person has another account there by right.',
      responses: { 200: accountSchema },
      handler: async ({ change, params: { id } }) => {
        const account = await deleteEntraAccount(change.tx, id)
        change.recordAudit({
          action: 'entra_account.forgotten',
          target: { type: 'entra_account', id },
          description: 'forgot the account of Entra by which a person signed in',
          before: {
            person_id: account.personId,
            tenant_id: account.tenantId,
            object_id: account.objectId,
            username: account.username,
          },
        })
        return toWire(accountSchema, account)
      },
    }),
  ]
}
