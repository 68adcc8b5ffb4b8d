import { z } from 'zod'
import { changeRoute } from '../../changes/change-routes.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { toWire } from '../../platform/wire/to-wire.ts'
import { timestampSchema } from '../../platform/wire/wire-values.ts'
import { listRoute, type ApiRoute } from '../../schema/operations.ts'
import { confirmAsAdmin } from './decide-confirmation.ts'
import { listPendingConfirmations } from './confirmation-store.ts'

const PATH = '/sign_in_attempts'

const decidedSchema = z
  .object({
    id: z.string(),
    attempt_id: z.string(),
    kind: z
      .enum(['registration', 'sign_in'])
      .describe('The registration of a new device, or a sign-in whose device could not be proven.'),
    ways: z.array(z.enum(['registered_device', 'admin_approval'])).describe('Who may confirm it.'),
    person_id: z.string(),
    device_id: z.string().describe('The device that is confirmed.'),
    code: z.string().describe('What the person sees where the sign-in waits: ask for it.'),
    status: z.enum(['pending', 'approved', 'denied']),
    requested_at: timestampSchema,
    expires_at: timestampSchema,
    decided_at: timestampSchema.nullable(),
    decided_by: z.string().nullable(),
  })
  .meta({ id: 'SignInApproval', description: 'What a sign-in under way waits for.' })

const pendingSchema = decidedSchema
  .extend({
    person_name: z.string(),
    person_email: z.string(),
    device_name: z.string(),
    application_name: z.string().nullable(),
    ip_address: z.string().nullable().describe('Where the browser of the sign-in is.'),
  })
  .meta({ id: 'PendingSignInApproval' })

/** The operations on sign-ins that wait for an admin. */
export function confirmationRoutes({
  db,
  runChange,
  clock,
}: Pick<Foundation, 'db' | 'runChange' | 'clock'>): ApiRoute[] {
  const decision = (verb: 'approve' | 'deny', summary: string) =>
    changeRoute(runChange, {
      tags: ['Sign-in'],
      permission: 'Manage Sign-in',
      method: 'POST',
      path: `${PATH}/:id/${verb}`,
      summary,
      description:
        'The sign-in goes on, or ends, at once. What is decided, or over, answers 409; a sign-in lasts ten minutes at most.',
      responses: { 200: decidedSchema },
      handler: async ({ change, params: { id } }) =>
        toWire(decidedSchema, await confirmAsAdmin(change, id, verb === 'approve')),
    })
  return [
    listRoute({
      tags: ['Sign-in'],
      permission: 'Read Sign-in',
      path: PATH,
      summary: 'List sign-ins that wait for an approval',
      item: pendingSchema,
      fetch: ({ window }) => listPendingConfirmations(db, clock.now(), window),
      toJson: (confirmation) => toWire(pendingSchema, confirmation),
    }),
    decision('approve', 'Approve a sign-in'),
    decision('deny', 'Deny a sign-in'),
  ]
}
