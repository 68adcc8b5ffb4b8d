import { z } from 'zod'
import { changeRoute } from '../../changes/change-routes.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { recordIdInput, textInput } from '../../platform/wire/body-values.ts'
import { toWire } from '../../platform/wire/to-wire.ts'
import { route, type ApiRoute } from '../../schema/operations.ts'
import { changeSignInPolicy } from './change-policy.ts'
import { isSafeSvg } from './safe-svg.ts'
import { FALLBACKS, getSignInPolicy, type SignInPolicy } from './policy-store.ts'

const PATH = '/sign_in_policy'

const NAME_LENGTH_MAX = 100
const PATH_LENGTH_MAX = 500
const PROXIES_MAX = 50
const LOGO_LENGTH_MAX = 65_536
const DAYS_MAX = 365
const MINUTES_MAX = 10_080
const RECHECK_MINUTES_MAX = 1_440
const HEADER_NAME = /^[A-Za-z0-9-]{1,64}$/
const PNG = /^iVBORw0KGgo/
const PROXY_PATH = 'Of the program, as the device reports it.'
const BREAK_GLASS =
  'Whose members are let in to applications where their device stands in the way, once more than their browser says who they are. Every use is in the audit log.'

const proxySchema = z.object({
  name: textInput(NAME_LENGTH_MAX),
  path: textInput(PATH_LENGTH_MAX).describe(PROXY_PATH),
})

const logoSchema = z
  .object({
    type: z.enum(['image/svg+xml', 'image/png']),
    data: z.base64('Must be base64').max(LOGO_LENGTH_MAX),
  })
  .refine(
    ({ type, data }) =>
      type === 'image/png' ? PNG.test(data) : isSafeSvg(Buffer.from(data, 'base64').toString()),
    'Must be a PNG, or an SVG without scripts, styles and references to elsewhere',
  )

const shape = {
  fallbacks: z
    .array(z.enum(FALLBACKS))
    .max(FALLBACKS.length)
    .refine((list) => new Set(list).size === list.length, 'Must name each one once')
    .describe('What somebody may do whose device cannot be proven, in this order; none refuses.'),
  browser_key_days: z.int().min(1).max(DAYS_MAX),
  first_registration: z
    .enum(['on_first_use', 'admin_approval', 'refuse'])
    .describe(
      'What the first device of a person takes. On first use registers for somebody of whom an identity provider has spoken (an upstream provider, Entra, a signed or pushed request); anybody else waits for an admin.',
    ),
  further_registration: z.enum([
    'registered_device',
    'admin_approval',
    'registered_device_or_admin',
  ]),
  unreachable_device: z
    .enum(['refuse', 'last_known'])
    .describe('What becomes of a device that does not answer during a sign-in.'),
  last_known_minutes: z.int().min(1).max(MINUTES_MAX),
  upstream_outage: z.enum(['refuse', 'remembered_person']),
  break_glass_group_id: recordIdInput.nullable().describe(BREAK_GLASS),
  recheck_age_minutes: z
    .int()
    .min(1)
    .max(RECHECK_MINUTES_MAX)
    .describe('Results of checks that are older run again during a sign-in.'),
  trusted_local_proxies: z.array(proxySchema).max(PROXIES_MAX),
  certificate_header: z
    .object({
      name: z.string().regex(HEADER_NAME, 'Must be the name of a header'),
      proxies: z
        .array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]))
        .min(1)
        .max(PROXIES_MAX),
    })
    .nullable(),
  brand_name: textInput(NAME_LENGTH_MAX).nullable(),
  brand_logo: logoSchema.nullable(),
  brand_colour: z
    .string()
    .regex(/^#[0-9a-f]{6}$/, 'Must be a colour such as #1a73e8')
    .nullable(),
}

const policySchema = z
  .object({
    ...shape,
    break_glass_group_id: z.string().nullable().describe(BREAK_GLASS),
    trusted_local_proxies: z.array(
      z.object({ name: z.string(), path: z.string().describe(PROXY_PATH) }),
    ),
    brand_name: z.string().nullable(),
  })
  .meta({ id: 'SignInPolicy', description: 'What is decided about sign-ins.' })
const updateBody = z.strictObject(shape).partial().meta({ id: 'UpdateSignInPolicy' })

/** The operations on the policy of sign-ins. */
export function policyRoutes({ db, runChange }: Pick<Foundation, 'db' | 'runChange'>): ApiRoute[] {
  return [
    route({
      tags: ['Sign-in'],
      permission: 'Read Sign-in',
      method: 'GET',
      path: PATH,
      summary: 'Show the policy of sign-ins',
      responses: { 200: policySchema },
      handler: async () => toJson(await getSignInPolicy(db)),
    }),
    changeRoute(runChange, {
      tags: ['Sign-in'],
      permission: 'Manage Sign-in',
      method: 'PATCH',
      path: PATH,
      stepUp: true,
      summary: 'Change the policy of sign-ins',
      body: updateBody,
      example: { body: { fallbacks: ['registered_device', 'admin_approval'] } },
      responses: { 200: policySchema },
      handler: async ({ change, body }) =>
        toJson(
          await changeSignInPolicy(change, {
            fallbacks: body.fallbacks,
            browserKeyDays: body.browser_key_days,
            firstRegistration: body.first_registration,
            furtherRegistration: body.further_registration,
            unreachableDevice: body.unreachable_device,
            lastKnownMinutes: body.last_known_minutes,
            upstreamOutage: body.upstream_outage,
            breakGlassGroupId: body.break_glass_group_id,
            recheckAgeMinutes: body.recheck_age_minutes,
            trustedLocalProxies: body.trusted_local_proxies,
            certificateHeader: body.certificate_header,
            brandName: body.brand_name,
            brandLogo: body.brand_logo,
            brandColour: body.brand_colour,
          }),
        ),
    }),
  ]
}

function toJson(policy: SignInPolicy) {
  return toWire(policySchema, policy, {
    certificate_header:
      policy.certificateHeader === null
        ? null
        : {
            name: policy.certificateHeader.name,
            proxies: [...policy.certificateHeader.proxies],
          },
  })
}
