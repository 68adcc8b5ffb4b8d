/* Devices of admins: the one at which a session is, and who would have none that the console takes. */
import { z } from 'zod'
import { toOrigin } from '../../changes/to-origin.ts'
import {
  admitBinding,
  readOwnSession,
  SESSION_TAGS,
  type SignInDependencies,
} from '../../organisation/admin-sign-in/browser-input.ts'
import {
  answerSession,
  consoleSessionSchema,
} from '../../organisation/admin-sign-in/session-json.ts'
import { readSessionCookie } from '../../platform/http/session-cookie.ts'
import { toWire } from '../../platform/wire/to-wire.ts'
import { listRoute, route, type ApiRoute } from '../../schema/operations.ts'
import { readPersonCookie } from '../person-pages/session/person-cookie-input.ts'
import { ADMIN_DEVICE_PROBLEMS, listAdminDevices } from './admin-device-read.ts'
import { bindSession, type BindDependencies } from './bind-session.ts'

export interface AdminDeviceDependencies
  extends BindDependencies, Pick<SignInDependencies, 'site' | 'rateLimiter'> {
  readonly baseUrl: string
}

const adminDeviceSchema = z
  .object({
    id: z.string().describe('The id of the admin.'),
    name: z.string(),
    email: z.string(),
    person_id: z.string().nullable().describe('The person with the email address of the admin.'),
    device_id: z
      .string()
      .nullable()
      .describe('The device of the person that is in the best order.'),
    device_name: z.string().nullable(),
    problem: z
      .enum(ADMIN_DEVICE_PROBLEMS)
      .nullable()
      .describe('Why the admin could not use the console; null where a device would be trusted.'),
  })
  .meta({ id: 'AdminDevice', description: 'Whether an admin has a device that would be trusted.' })

/** The operations on the devices of admins. */
export function adminDeviceRoutes(dependencies: AdminDeviceDependencies): ApiRoute[] {
  const { db, clock, site, baseUrl } = dependencies
  return [
    route({
      tags: SESSION_TAGS,
      permission: 'session',
      opensWithoutDevice: true,
      method: 'POST',
      path: '/console/session/device',
      summary: 'Bind the session to its device',
      description:
        'To the one at which the browser has signed in to `/sign-in/me` within ten minutes, as the person with the email address of the admin. The session gets a new cookie.',
      responses: { 200: consoleSessionSchema },
      handler: async (context) => {
        const { session } = await readOwnSession(dependencies, context.headers)
        await admitBinding(dependencies, session.id)
        const tokens = {
          session: readSessionCookie(context.headers, site.cookie) ?? '',
          person: readPersonCookie(context.headers, baseUrl),
        }
        const token = await bindSession(dependencies, session, tokens, toOrigin(context))
        return answerSession(dependencies, token)
      },
    }),
    listRoute({
      tags: ['Admins'],
      permission: 'Manage Admins',
      path: '/admin_devices',
      summary: 'List admins with the devices that they could use the console from',
      description:
        'Says who would be locked out, were `admins_require_trusted_device` of the organisation switched on.',
      item: adminDeviceSchema,
      fetch: ({ window }) => listAdminDevices(db, clock.now(), window),
      toJson: (admin) => toWire(adminDeviceSchema, admin),
    }),
  ]
}
