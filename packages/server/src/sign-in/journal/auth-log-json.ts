/*
 * The record of a sign-in as the API shows it.
 */
import { z } from 'zod'
import { toWire } from '../../platform/wire/to-wire.ts'
import { deviceSchema } from '../../posture/devices/device-json.ts'
import { collectionOfPerson, personSchema } from '../../people/people/person-json.ts'
import { expanded } from '../../platform/http/expand.ts'
import { timestampSchema, toTimestamp } from '../../platform/wire/wire-values.ts'
import type { ListedAuthLog } from './auth-log-read.ts'

/** Here identifiers are integers, unlike in every other link; no record looks as it does everywhere. */
const integerLinkSchema = z.object({
  identifier: z
    .union([z.int(), z.literal('')])
    .describe('The id of the record; empty when there is none.'),
  link: z.string().nullable().describe('The address of the record; null when there is none.'),
})

const personLinkSchema = integerLinkSchema
  .extend({ record: expanded(personSchema) })
  .meta({ id: 'PersonIntegerLink' })

const deviceLinkSchema = integerLinkSchema
  .extend({ record: expanded(deviceSchema) })
  .meta({ id: 'DeviceIntegerLink' })

/** A sign-in. */
export const authLogSchema = z
  .object({
    id: z.string(),
    timestamp: timestampSchema.describe('When the sign-in began.'),
    person_name: z.string(),
    person_email: z.string(),
    person_info: personLinkSchema,
    device_info: deviceLinkSchema,
    result: z.enum(['Success', 'Fail']).nullable().describe('Null while the sign-in is under way.'),
    initial_status: z
      .enum(['all_good', 'will_block', 'blocked', 'unknown'])
      .describe('The status of the device at the beginning; `unknown` when none was found.'),
    ip_address: z.string().nullable(),
    agent_version: z.string().optional(),
    country: z.string().optional(),
    city: z.string().optional(),
    browser_name: z.string().nullable(),
    browser_user_agent: z.string().nullable(),
    issues_displayed: z.array(
      z.object({
        title: z.string(),
        blocking_status: z.enum(['blocked', 'will_block']),
        id: z.string(),
        link: z.string(),
      }),
    ),
    events: z.array(
      z.object({
        timestamp: timestampSchema,
        event_type: z.string(),
        event_description: z.string(),
      }),
    ),
    okta_app_instance_id: z.string().nullable(),
    okta_app_name: z.string().nullable(),
  })
  .meta({ id: 'AuthLog' })

/** The wire form of a sign-in. */
export function toAuthLogJson(baseUrl: string, session: ListedAuthLog) {
  return toWire(authLogSchema, session, {
    timestamp: toTimestamp(session.startedAt),
    person_info: toIntegerLink(
      baseUrl,
      collectionOfPerson(session.isPersonDeprovisioned),
      session.personId,
    ),
    device_info: toIntegerLink(baseUrl, 'devices', session.deviceId),
    issues_displayed: session.issuesDisplayed.map((issue) => ({
      ...issue,
      link: `${baseUrl}/issues/${issue.id}`,
    })),
    okta_app_instance_id: session.appInstanceId,
    okta_app_name: session.appName,
  })
}

function toIntegerLink(
  baseUrl: string,
  collection: string,
  id: string | null,
): z.input<typeof integerLinkSchema> {
  if (id === null) return { identifier: '', link: null }
  return { identifier: Number(id), link: `${baseUrl}/${collection}/${id}` }
}
