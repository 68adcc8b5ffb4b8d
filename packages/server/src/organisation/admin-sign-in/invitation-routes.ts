/* Routes by which admins are invited. The service sends no mail: whoever invites hands the link on. */
import { z } from 'zod'
import { changeRoute } from '../../changes/change-routes.ts'
import type { Change } from '../../changes/change.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { conflict, notFound } from '../../platform/app-error.ts'
import { parseId } from '../../platform/ids.ts'
import { timestampSchema, toTimestamp } from '../../platform/wire/wire-values.ts'
import type { ApiRoute } from '../../schema/operations.ts'
import { assertMayGrant } from '../admins/admin-grants.ts'
import { adminFactsSchema, restrictionsSchema, toAdminJson } from '../admins/admin-routes.ts'
import { ADMIN_ACCESS_LEVELS, createAdmin } from '../admins/create-admin.ts'
import { findAdminForShare, type Admin } from '../admins/find-admin.ts'
import { toSignInAddress, type ConsoleSite } from './console-site.ts'
import { issueLink } from './sign-in-link.ts'
import { hasWayToSignIn } from './sign-in-way-read.ts'

const invitedSchema = z
  .object({
    ...adminFactsSchema.shape,
    sign_in_url: z
      .string()
      .describe('Signs the admin in once. Shown only here; hand it on over a channel you trust.'),
    sign_in_url_expires_at: timestampSchema,
  })
  .meta({ id: 'InvitedAdminUser' })

const nameSchema = z.string().trim().min(1).max(200)

/** Inviting admins, and a new link for those who have not followed theirs. */
export function invitationRoutes(
  { runChange }: Pick<Foundation, 'runChange'>,
  site: ConsoleSite,
): ApiRoute[] {
  const access = {
    tags: ['Admins'],
    permission: 'Manage Admins',
    method: 'POST',
    stepUp: true,
  } as const
  return [
    changeRoute(runChange, {
      ...access,
      path: '/admin_users',
      summary: 'Invite an admin',
      description:
        'Answers a link by which the admin signs in once, within 24 hours. Whoever invites has to hold what the admin gets; only an admin with Full Access who is signed in can invite another one with Full Access.',
      body: z.object({
        email: z.string().min(1).max(254),
        first_name: nameSchema,
        last_name: nameSchema,
        access: z.enum(ADMIN_ACCESS_LEVELS),
        restrictions: restrictionsSchema.optional(),
      }),
      example: {
        body: {
          email: 'ada@example.com',
          first_name: 'Ada',
          last_name: 'Lovelace',
          access: 'limited',
        },
      },
      responses: { 200: invitedSchema },
      handler: async ({ change, body, principal }) => {
        assertMayGrant(principal, { access: body.access, restrictions: body.restrictions ?? [] })
        const admin = await createAdmin(change, {
          email: body.email,
          firstName: body.first_name,
          lastName: body.last_name,
          access: body.access,
          restrictions: body.restrictions,
        })
        return invite(change, admin, site)
      },
    }),
    changeRoute(runChange, {
      ...access,
      path: '/admin_users/:id/sign_in_link',
      summary: 'Make a new link for an invited admin',
      description:
        'The link before it ends. Admins who have a way to sign in are let in again on the machine of the service only: 409.',
      responses: { 200: invitedSchema },
      handler: async ({ change, params, principal }) => {
        const admin = await findAdminForShare(change.tx, parseId(params.id, 'admin'))
        if (admin === undefined) throw notFound('admin', params.id)
        // Whoever gets the link of another admin could be that admin.
        assertMayGrant(principal, admin)
        if (await hasWayToSignIn(change.tx, admin.id)) {
          throw conflict(
            `${admin.email} has a way to sign in. Who has lost it gets a link on the machine of the service: heliograph admins link.`,
          )
        }
        return invite(change, admin, site)
      },
    }),
  ]
}

async function invite(change: Change, admin: Admin, site: ConsoleSite) {
  const { token, expiresAt } = await issueLink(change, admin, 'invitation')
  return {
    ...toAdminJson(admin),
    sign_in_url: toSignInAddress(site, token),
    sign_in_url_expires_at: toTimestamp(expiresAt),
  }
}
