import { z } from 'zod'
import { changeRoute } from '../../changes/change-routes.ts'
import type { Change } from '../../changes/change.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { toWire } from '../../platform/wire/to-wire.ts'
import { textInput } from '../../platform/wire/body-values.ts'
import { timestampSchema } from '../../platform/wire/wire-values.ts'
import { route, type ApiRoute } from '../../schema/operations.ts'
import type { DeviceTrust } from '../admin-sign-in/device-trust.ts'
import { admitDeviceSwitch } from './admit-device-switch.ts'
import { getOrganisation, type Organisation } from './organisation-store.ts'
import {
  COMPLIANCE_THRESHOLDS,
  ORGANISATION_NAME_LENGTH_MAX,
  setOrganisation,
} from './set-organisation.ts'

export interface OrganisationRouteDependencies extends Pick<Foundation, 'db' | 'runChange'> {
  /** Derives the status of every device anew. */
  readonly reevaluateAllDevices: (change: Change) => Promise<void>
  readonly deviceTrust: DeviceTrust
}

const TAGS = ['Organisation']

const whoAmISchema = z
  .object({ organization_id: z.string(), organization_name: z.string() })
  .meta({ id: 'WhoAmI' })

const organisationSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    compliance_threshold: z
      .enum(COMPLIANCE_THRESHOLDS)
      .describe('The least status of a device that counts as not compliant.'),
    api_writes: z.boolean().describe('Whether API keys may write.'),
    ssf: z.boolean().describe('Whether Shared Signals streams are served.'),
    admins_require_trusted_device: z
      .boolean()
      .describe('Whether admins use the console from trusted devices alone. Keys are not asked.'),
    created_at: timestampSchema,
    updated_at: timestampSchema,
  })
  .meta({ id: 'Organisation' })

const changeBody = z
  .strictObject({
    name: textInput(ORGANISATION_NAME_LENGTH_MAX).optional(),
    compliance_threshold: z.enum(COMPLIANCE_THRESHOLDS).optional(),
    api_writes: z.boolean().optional(),
    ssf: z.boolean().optional(),
    admins_require_trusted_device: z
      .boolean()
      .optional()
      .describe(
        'Changed by admins who are signed in alone; switched on from a session that is bound to a trusted device.',
      ),
  })
  .meta({ id: 'ChangeOrganisation' })

/** The organisation with its settings, and what a key belongs to. */
export function organisationRoutes({
  db,
  runChange,
  reevaluateAllDevices,
  deviceTrust,
}: OrganisationRouteDependencies): ApiRoute[] {
  return [
    route({
      method: 'GET',
      path: '/whoami',
      summary: 'Show the organisation of the key',
      tags: TAGS,
      permission: null,
      responses: { 200: whoAmISchema },
      handler: async () => {
        const { id, name } = await getOrganisation(db)
        return { organization_id: String(id), organization_name: name }
      },
    }),
    route({
      method: 'GET',
      path: '/organisation',
      summary: 'Show the settings of the organisation',
      tags: TAGS,
      permission: null,
      responses: { 200: organisationSchema },
      handler: async () => toOrganisationJson(await getOrganisation(db)),
    }),
    changeRoute(runChange, {
      method: 'PATCH',
      path: '/organisation',
      stepUp: true,
      summary: 'Change the settings of the organisation',
      description:
        'Members that are left out stay as they are. Another compliance threshold takes effect on every device in the same change.',
      tags: TAGS,
      permission: 'Manage Organisation',
      body: changeBody,
      responses: { 200: organisationSchema },
      example: { body: { compliance_threshold: 'will_block' } },
      handler: async ({ change, body, principal }) => {
        const isTrustedDeviceRequired = body.admins_require_trusted_device
        await admitDeviceSwitch(change, deviceTrust, principal.session?.id, isTrustedDeviceRequired)
        return toOrganisationJson(
          await setOrganisation(
            change,
            {
              name: body.name,
              complianceThreshold: body.compliance_threshold,
              isApiWritesEnabled: body.api_writes,
              isSsfEnabled: body.ssf,
              isTrustedDeviceRequired,
            },
            reevaluateAllDevices,
          ),
        )
      },
    }),
  ]
}

function toOrganisationJson(organisation: Organisation): z.input<typeof organisationSchema> {
  return toWire(organisationSchema, organisation, {
    id: String(organisation.id),
    api_writes: organisation.apiWritesEnabled,
    ssf: organisation.ssfEnabled,
  })
}
