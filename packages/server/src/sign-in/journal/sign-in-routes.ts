/*
 * Recording sign-ins from outside: an identity provider's hook opens a session, tells how it goes on
 * and how it ended. The use cases are the same that a sign-in of the service itself goes through.
 */
import { z } from 'zod'
import type { Change, RunChange } from '../../changes/change.ts'
import { changeRoute } from '../../changes/change-routes.ts'
import {
  emailInput,
  recordIdInput,
  textInput,
  timestampInput,
} from '../../platform/wire/body-values.ts'
import { conflict, invalidBody } from '../../platform/app-error.ts'
import { givenMembers } from '../../platform/given-members.ts'
import { parseId } from '../../platform/ids.ts'
import type { ApiRoute } from '../../schema/operations.ts'
import { authLogSchema, toAuthLogJson } from './auth-log-json.ts'
import { AUTH_LOG_LIST } from './auth-log-read.ts'
import { closeSession } from './close-session.ts'
import { extendSession } from './extend-session.ts'
import { openSession, type SignInPerson } from './open-session.ts'
import type { SessionFacts } from './session-facts.ts'
import { isLedHere } from './session-store.ts'

export interface SignInDependencies {
  readonly baseUrl: string
  readonly runChange: RunChange
  /** How long nothing may happen in a sign-in that says nothing about it. */
  readonly signInTimeoutSeconds: number
}

const NAME_LENGTH_MAX = 200
const VERSION_LENGTH_MAX = 100
const USER_AGENT_LENGTH_MAX = 1_000
const DESCRIPTION_LENGTH_MAX = 1_000
const EVENTS_PER_REQUEST_MAX = 50
const TIMEOUT_SECONDS_MIN = 10
const TIMEOUT_SECONDS_MAX = 86_400

const timeoutInput = z
  .int()
  .min(TIMEOUT_SECONDS_MIN)
  .max(TIMEOUT_SECONDS_MAX)
  .describe('Seconds in which nothing may happen until the sign-in counts as abandoned.')

const factsShape = {
  device_id: recordIdInput.optional().describe('The device that the person signs in from.'),
  ip_address: z
    .union([z.ipv4(), z.ipv6()], { error: 'Must be an IPv4 or IPv6 address' })
    .optional(),
  agent_version: textInput(VERSION_LENGTH_MAX).optional(),
  country: textInput(NAME_LENGTH_MAX).optional(),
  city: textInput(NAME_LENGTH_MAX).optional(),
  browser_name: textInput(NAME_LENGTH_MAX).optional(),
  browser_version: textInput(VERSION_LENGTH_MAX).optional(),
  browser_user_agent: textInput(USER_AGENT_LENGTH_MAX).optional(),
  okta_app_instance_id: textInput(NAME_LENGTH_MAX).optional(),
  okta_app_name: textInput(NAME_LENGTH_MAX).optional(),
} as const

const eventSchema = z.strictObject({
  event_type: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,63}$/, 'Must be lower-case words joined by underscores')
    .describe('Such as `agent_detection_success`.'),
  event_description: textInput(DESCRIPTION_LENGTH_MAX),
  timestamp: timestampInput.optional().describe('Default: now.'),
})

const openBody = z
  .strictObject({
    person_id: recordIdInput.optional(),
    person_email: emailInput.optional().describe('Nobody known is created as a new person.'),
    person_name: textInput(NAME_LENGTH_MAX).optional().describe('The name of a new person.'),
    ...factsShape,
    timeout_seconds: timeoutInput.optional(),
  })
  .meta({ id: 'OpenAuthLog' })

const extendBody = z
  .strictObject({
    ...factsShape,
    events: z.array(eventSchema).max(EVENTS_PER_REQUEST_MAX).optional(),
    timeout_seconds: timeoutInput.optional(),
  })
  .meta({ id: 'ExtendAuthLog' })

const closeBody = z
  .strictObject({
    result: z.enum(['Success', 'Fail']),
    event_description: textInput(DESCRIPTION_LENGTH_MAX)
      .optional()
      .describe('What happened last, in words.'),
  })
  .meta({ id: 'CloseAuthLog' })

const ACCESS = { tags: ['Auth logs'], permission: 'Record Sign-ins' } as const

/** Opening, extending and closing sign-in sessions. */
export function signInRoutes(dependencies: SignInDependencies): ApiRoute[] {
  return [openRoute(dependencies), extendRoute(dependencies), closeRoute(dependencies)]
}

function openRoute({ baseUrl, runChange, signInTimeoutSeconds }: SignInDependencies): ApiRoute {
  return changeRoute(runChange, {
    ...ACCESS,
    method: 'POST',
    path: '/auth_logs',
    summary: 'Open a sign-in',
    description:
      'Exactly one of `person_id` and `person_email` says who signs in. A sign-in in which nothing happens for its time ends by itself with `Fail`.',
    body: openBody,
    example: { body: { person_email: 'ada@example.com', device_id: 1, browser_name: 'Firefox' } },
    responses: { 200: authLogSchema },
    handler: async ({ change, body }) => {
      const person = toPerson(body)
      const timeoutSeconds = body.timeout_seconds ?? signInTimeoutSeconds
      const session = await openSession(change, { ...toFacts(body), person, timeoutSeconds })
      return showSession(change, session, baseUrl)
    },
  })
}

function extendRoute({ baseUrl, runChange }: SignInDependencies): ApiRoute {
  return changeRoute(runChange, {
    ...ACCESS,
    method: 'PATCH',
    path: '/auth_logs/:id',
    summary: 'Extend a sign-in',
    description:
      'Adds what has become known and what has happened; its time begins anew. Sign-ins that this service leads are its own to record.',
    body: extendBody,
    example: {
      body: {
        events: [
          {
            event_type: 'agent_detection_success',
            event_description: 'The agent of the device answered.',
          },
        ],
      },
    },
    responses: { 200: authLogSchema },
    handler: async ({ change, params, body }) => {
      const id = parseId(params.id, 'auth log')
      await assertLedElsewhere(change, id)
      const events = (body.events ?? []).map((event) => ({
        type: event.event_type,
        description: event.event_description,
        timestamp: event.timestamp,
      }))
      const extension = { ...toFacts(body), events, timeoutSeconds: body.timeout_seconds }
      return showSession(change, await extendSession(change, id, extension), baseUrl)
    },
  })
}

function closeRoute({ baseUrl, runChange }: SignInDependencies): ApiRoute {
  return changeRoute(runChange, {
    ...ACCESS,
    method: 'POST',
    path: '/auth_logs/:id/close',
    summary: 'Close a sign-in',
    description:
      'Success is noted on the person and the device too. Sign-ins that this service leads are its own to end.',
    body: closeBody,
    example: { body: { result: 'Success' } },
    responses: { 200: authLogSchema },
    handler: async ({ change, params, body }) => {
      const { result, event_description: description } = body
      const id = parseId(params.id, 'auth log')
      await assertLedElsewhere(change, id)
      const session = await closeSession(change, id, { result, description })
      return showSession(change, session, baseUrl)
    },
  })
}

/** A sign-in as the open change leaves it. */
async function showSession({ tx }: Change, { id }: { readonly id: string }, baseUrl: string) {
  return toAuthLogJson(baseUrl, await AUTH_LOG_LIST.get(tx, id))
}

/** What became of a sign-in here is said by what happened here alone. @throws AppError `conflict` */
async function assertLedElsewhere({ tx }: Change, id: string): Promise<void> {
  if (!(await isLedHere(tx, id))) return
  throw conflict(
    `The sign-in ${id} is led by this service, which records it; only others are told from outside.`,
  )
}

function toPerson(body: z.output<typeof openBody>): SignInPerson {
  const { person_id: id, person_email: email, person_name: name } = body
  if (id !== undefined && email === undefined) return { id }
  if (email !== undefined && id === undefined) return { email, name }
  const message = 'Exactly one of person_id and person_email must be given.'
  throw invalidBody([{ path: 'person_id', message }])
}

function toFacts(body: z.output<typeof openBody> | z.output<typeof extendBody>): SessionFacts {
  return {
    deviceId: body.device_id,
    columns: givenMembers({
      ipAddress: body.ip_address,
      agentVersion: body.agent_version,
      country: body.country,
      city: body.city,
      browserName: body.browser_name,
      browserVersion: body.browser_version,
      browserUserAgent: body.browser_user_agent,
      appInstanceId: body.okta_app_instance_id,
      appName: body.okta_app_name,
    }),
  }
}
