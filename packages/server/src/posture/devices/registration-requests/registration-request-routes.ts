import { z } from 'zod'
import type { Change } from '../../../changes/change.ts'
import type { RouteFoundation } from '../../../changes/foundation.ts'
import { changeRoute } from '../../../changes/change-routes.ts'
import { decidedIdsInput, decideEach, decisionsSchema } from '../../../changes/decide-each.ts'
import { toOrigin } from '../../../changes/to-origin.ts'
import { requesterShape } from '../../../people/people/find-requester.ts'
import { personResource } from '../../../people/people/person-json.ts'
import { recordIdInput, textInput } from '../../../platform/wire/body-values.ts'
import {
  listRecords,
  loadRecords,
  route,
  showRecord,
  type ApiRoute,
} from '../../../schema/operations.ts'
import { deviceResource } from '../device-json.ts'
import { createRegistrationRequest } from './create-registration-request.ts'
import {
  decideRegistrationRequest,
  type RegistrationDecision,
} from './decide-registration-request.ts'
import {
  registrationRequestSchema,
  toRegistrationRequestJson,
} from './registration-request-json.ts'
import {
  REGISTRATION_REQUEST_LIST,
  REGISTRATION_REQUEST_STATUSES,
  type ListedRegistrationRequest,
} from './registration-request-read.ts'

const MESSAGE_LENGTH_MAX = 4_000

const createBody = z.strictObject({
  ...requesterShape,
  device_id: recordIdInput,
  requester_message: textInput(MESSAGE_LENGTH_MAX),
})

const decideBody = z
  .strictObject({
    status: z.enum(REGISTRATION_REQUEST_STATUSES).describe('`pending` reopens a denied request.'),
    internal_message: textInput(MESSAGE_LENGTH_MAX).optional().describe('Why, for admins.'),
    end_user_denial_message: textInput(MESSAGE_LENGTH_MAX)
      .optional()
      .describe('Why, for the requester; required to deny.'),
    internal_denial_reason: textInput(MESSAGE_LENGTH_MAX)
      .optional()
      .meta({ deprecated: true, description: 'The old name of `internal_message` of a denial.' }),
  })
  .superRefine((body, context) => {
    if (body.status === 'denied' && body.end_user_denial_message === undefined) {
      context.addIssue({
        code: 'custom',
        path: ['end_user_denial_message'],
        message: 'Is required to deny',
      })
    }
  })

const tags = ['Requests']

/** Requests for registrations: reading, asking and deciding. */
export function registrationRequestRoutes(dependencies: RouteFoundation): ApiRoute[] {
  return [
    ...readRoutes(dependencies),
    ...writeRoutes(dependencies),
    bulkDecisionRoute(dependencies),
  ]
}

function readRoutes({ db, baseUrl }: RouteFoundation): ApiRoute[] {
  const access = { tags, permission: null } as const
  const requests = {
    db,
    list: REGISTRATION_REQUEST_LIST,
    item: registrationRequestSchema,
    toJson: (request: ListedRegistrationRequest) => toRegistrationRequestJson(baseUrl, request),
    expand: {
      requester: { member: 'requester_information', load: loadRecords(personResource(db)) },
      device: { member: 'device_information', load: loadRecords(deviceResource(db, baseUrl)) },
    },
  }
  return [
    listRecords(requests, {
      ...access,
      path: '/registration_requests',
      summary: 'List requests for registrations',
    }),
    showRecord(requests, {
      ...access,
      path: '/registration_requests/:id',
      summary: 'Show a request for a registration',
    }),
  ]
}

function writeRoutes({ baseUrl, runChange }: RouteFoundation): ApiRoute[] {
  return [
    changeRoute(runChange, {
      method: 'POST',
      path: '/registration_requests',
      summary: 'Ask for a registration on behalf of a person',
      description: 'Exactly one of `person_id` and `person_email` says who asks.',
      tags,
      permission: 'Manage User Requests',
      body: createBody,
      example: {
        body: { person_id: 1, device_id: 2, requester_message: 'My second computer.' },
      },
      responses: { 200: registrationRequestSchema },
      handler: async ({ change, body }) => {
        const { device_id: deviceId, requester_message: message, ...requester } = body
        const input = { ...requester, deviceId, message }
        const request = await createRegistrationRequest(change, input)
        return showRequest(change, request, baseUrl)
      },
    }),
    changeRoute(runChange, {
      method: 'PATCH',
      path: '/registration_requests/:id',
      summary: 'Decide a request for a registration',
      description: 'An approval registers the device to the requester.',
      tags,
      permission: 'Manage User Requests',
      body: decideBody,
      example: { body: { status: 'approved', internal_message: 'It is theirs.' } },
      responses: { 200: registrationRequestSchema },
      handler: async ({ change, params, body }) => {
        const request = await decideRegistrationRequest(change, params.id, toDecision(body))
        return showRequest(change, request, baseUrl)
      },
    }),
  ]
}

/** A request as the open change leaves it. */
async function showRequest({ tx }: Change, { id }: { readonly id: string }, baseUrl: string) {
  return toRegistrationRequestJson(baseUrl, await REGISTRATION_REQUEST_LIST.get(tx, id))
}

/** The schema of a decision goes with its ids. */
const bulkBody = decideBody.safeExtend({ ids: decidedIdsInput })

function bulkDecisionRoute({ runChange }: RouteFoundation): ApiRoute {
  return route({
    method: 'POST',
    path: '/registration_requests/decisions',
    stepUp: true,
    summary: 'Decide several requests for registrations',
    description:
      'The same decision about at most a hundred requests. Each is decided alone: the answer says of each whether it was, or why not.',
    tags,
    permission: 'Manage User Requests',
    body: bulkBody,
    example: { body: { ids: [1, 2], status: 'approved', internal_message: 'They are theirs.' } },
    responses: { 200: decisionsSchema },
    handler: async (context) => {
      const { ids, ...decision } = context.body
      return decideEach(runChange, toOrigin(context), ids, (change, id) =>
        decideRegistrationRequest(change, id, toDecision(decision)),
      )
    },
  })
}

function toDecision(body: z.output<typeof decideBody>): RegistrationDecision {
  const { status } = body
  switch (status) {
    case 'approved':
      return { status, internalMessage: body.internal_message }
    case 'denied':
      return {
        status,
        internalMessage: body.internal_message ?? body.internal_denial_reason,
        // The schema has made sure of it.
        endUserDenialMessage: body.end_user_denial_message ?? '',
      }
    case 'pending':
      return { status }
  }
}
