import { z } from 'zod'
import type { RouteFoundation } from '../../../changes/foundation.ts'
import { changeRoute } from '../../../changes/change-routes.ts'
import { decidedIdsInput, decideEach, decisionsSchema } from '../../../changes/decide-each.ts'
import { toOrigin } from '../../../changes/to-origin.ts'
import { deviceResource } from '../../devices/device-json.ts'
import { requesterShape } from '../../../people/people/find-requester.ts'
import { personResource } from '../../../people/people/person-json.ts'
import { recordIdInput, textInput, timestampInput } from '../../../platform/wire/body-values.ts'
import {
  listRecords,
  loadRecords,
  route,
  showRecord,
  type ApiRoute,
} from '../../../schema/operations.ts'
import { issueResource } from '../issue-json.ts'
import { createExemptionRequest } from './create-exemption-request.ts'
import { decideExemptionRequest, type ExemptionDecision } from './decide-exemption-request.ts'
import { exemptionRequestSchema, toExemptionRequestJson } from './exemption-request-json.ts'
import {
  EXEMPTION_REQUEST_LIST,
  EXEMPTION_REQUEST_STATUSES,
  type ExemptionRequestRecord,
} from './exemption-request-read.ts'

const MESSAGE_LENGTH_MAX = 4_000
const ISSUES_MAX = 100

const createBody = z.strictObject({
  ...requesterShape,
  issue_ids: z
    .array(recordIdInput)
    .min(1, 'Must name at least one issue')
    .max(ISSUES_MAX, `Must name at most ${ISSUES_MAX} issues`)
    .transform((ids) => [...new Set(ids)])
    .describe('Open issues of one device.'),
  requester_message: textInput(MESSAGE_LENGTH_MAX),
  covers_future_issues: z.boolean().default(false),
  expires_at: timestampInput.nullable().default(null),
})

const decideBody = z
  .strictObject({
    status: z
      .enum(EXEMPTION_REQUEST_STATUSES)
      .describe('`open` reopens a decided request, `withdrawn` ends one that is open.'),
    internal_message: textInput(MESSAGE_LENGTH_MAX)
      .optional()
      .describe('Why, for admins; required to approve and to deny.'),
    denial_explanation: textInput(MESSAGE_LENGTH_MAX)
      .optional()
      .describe('Why, for the requester; required to deny.'),
    covers_future_issues: z.boolean().optional(),
    expires_at: timestampInput.nullable().optional(),
  })
  .superRefine((body, context) => {
    const isDecision = body.status === 'approved' || body.status === 'denied'
    const requires = (name: string, reason: string) =>
      context.addIssue({ code: 'custom', path: [name], message: `Is required ${reason}` })
    if (isDecision && body.internal_message === undefined) {
      requires('internal_message', 'to approve and to deny')
    }
    if (body.status === 'denied' && body.denial_explanation === undefined) {
      requires('denial_explanation', 'to deny')
    }
    if (body.status === 'approved') return
    for (const name of ['covers_future_issues', 'expires_at'] as const) {
      if (body[name] === undefined) continue
      context.addIssue({ code: 'custom', path: [name], message: 'Goes with an approval only' })
    }
  })

const tags = ['Requests']

/** Requests for exemptions: reading, asking and deciding. */
export function exemptionRequestRoutes(dependencies: RouteFoundation): ApiRoute[] {
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
    list: EXEMPTION_REQUEST_LIST,
    item: exemptionRequestSchema,
    toJson: (request: ExemptionRequestRecord) => toExemptionRequestJson(baseUrl, request),
    expand: {
      requester: { member: 'requester_information', load: loadRecords(personResource(db)) },
      device: { member: 'device_information', load: loadRecords(deviceResource(db, baseUrl)) },
      issues: { member: 'issues', load: loadRecords(issueResource(db, baseUrl)) },
    },
  }
  return [
    listRecords(requests, {
      ...access,
      path: '/exemption_requests',
      summary: 'List requests for exemptions',
    }),
    showRecord(requests, {
      ...access,
      path: '/exemption_requests/:id',
      summary: 'Show a request for an exemption',
    }),
  ]
}

function writeRoutes({ baseUrl, runChange }: RouteFoundation): ApiRoute[] {
  return [
    changeRoute(runChange, {
      method: 'POST',
      path: '/exemption_requests',
      summary: 'Ask for an exemption on behalf of a person',
      description:
        'Exactly one of `person_id` and `person_email` says who asks. Checks may disallow exemptions.',
      tags,
      permission: 'Manage User Requests',
      body: createBody,
      example: {
        body: { person_id: 1, issue_ids: [1], requester_message: 'Repaired next week.' },
      },
      responses: { 200: exemptionRequestSchema },
      handler: async ({ change, body }) => {
        const request = await createExemptionRequest(change, {
          person_id: body.person_id,
          person_email: body.person_email,
          issueIds: body.issue_ids,
          message: body.requester_message,
          coversFutureIssues: body.covers_future_issues,
          expiresAt: body.expires_at,
        })
        return toExemptionRequestJson(baseUrl, request)
      },
    }),
    changeRoute(runChange, {
      method: 'PATCH',
      path: '/exemption_requests/:id',
      summary: 'Decide a request for an exemption',
      description:
        'An approval exempts the issues at once and until `expires_at`; every other decision ends the exemption. The status of the device follows.',
      tags,
      permission: 'Manage User Requests',
      body: decideBody,
      example: { body: { status: 'approved', internal_message: 'Repaired next week.' } },
      responses: { 200: exemptionRequestSchema },
      handler: async ({ change, params, body }) => {
        const request = await decideExemptionRequest(change, params.id, toDecision(body))
        return toExemptionRequestJson(baseUrl, request)
      },
    }),
  ]
}

/** The schema of a decision goes with its ids. */
const bulkBody = decideBody.safeExtend({ ids: decidedIdsInput })

function bulkDecisionRoute({ runChange }: RouteFoundation): ApiRoute {
  return route({
    method: 'POST',
    path: '/exemption_requests/decisions',
    stepUp: true,
    summary: 'Decide several requests for exemptions',
    description:
      'The same decision about at most a hundred requests. Each is decided alone: the answer says of each whether it was, or why not.',
    tags,
    permission: 'Manage User Requests',
    body: bulkBody,
    example: { body: { ids: [1, 2], status: 'approved', internal_message: 'Repaired next week.' } },
    responses: { 200: decisionsSchema },
    handler: async (context) => {
      const { ids, ...decision } = context.body
      return decideEach(runChange, toOrigin(context), ids, (change, id) =>
        decideExemptionRequest(change, id, toDecision(decision)),
      )
    },
  })
}

function toDecision(body: z.output<typeof decideBody>): ExemptionDecision {
  const { status } = body
  // The schema has made sure of what each decision needs.
  const internalMessage = body.internal_message ?? ''
  switch (status) {
    case 'approved':
      return {
        status,
        internalMessage,
        expiresAt: body.expires_at,
        coversFutureIssues: body.covers_future_issues,
      }
    case 'denied':
      return { status, internalMessage, denialExplanation: body.denial_explanation ?? '' }
    case 'open':
    case 'withdrawn':
      return { status }
  }
}
