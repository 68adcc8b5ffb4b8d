/*
 * The three kinds of requests as one inbox: how each is listed and decided, and what all have in common. The rows
 * that the API answers stay theirs; the inbox shows `InboxRequest`.
 */
import {
  getExemptionRequests,
  getExemptionRequestsById,
  getReenrollmentRequests,
  getReenrollmentRequestsById,
  getRegistrationRequests,
  getRegistrationRequestsById,
  patchReenrollmentRequestsById,
  postExemptionRequestsDecisions,
  postRegistrationRequestsDecisions,
} from '../api/generated/sdk.gen.ts'
import type {
  Decisions,
  DeviceLink,
  ExemptionRequest,
  PersonLink,
  ReenrollmentRequest,
  RegistrationRequest,
} from '../api/generated/types.gen.ts'
import type { ReadPage } from '../kit/use-list.ts'
import type { Kind } from './request-search.ts'
import { texts } from './texts.ts'

export interface InboxRequest {
  readonly id: string
  readonly status: keyof typeof texts.states
  readonly isWaiting: boolean
  /** The person, or the machine, that asks. */
  readonly from: { readonly label: string; readonly path: string | null }
  readonly device: { readonly label: string; readonly path: string | null }
  /** What is asked, in their words or in ours. */
  readonly message: string
  readonly askedAt: string
  readonly expiresAt: string | null
  readonly decidedAt: string | null
  readonly decidedBy: string | null
  readonly internalNote: string | null
  readonly personNote: string | null
  readonly issues: readonly { readonly id: string; readonly title: string }[]
}

/** A decision over one request or more. */
export interface Decision {
  readonly status: 'approved' | 'denied'
  /** Why, for admins. */
  readonly internal: string
  /** Why it is denied, for the person. */
  readonly explanation: string
  readonly expiresAt: string | null
  readonly coversFuture: boolean
}

export interface KindOfRequest {
  readonly path: '/exemption_requests' | '/registration_requests' | '/reenrollment_requests'
  /** The search for those that wait. */
  readonly waiting: string
  readonly permission: string
  readonly read: ReadPage<InboxRequest>
  /** One of them, whether or not the list has come to it. */
  readonly find: (id: string, signal: AbortSignal) => Promise<InboxRequest>
  /** Decides each alone; answers those that the service refused. */
  readonly decide: (ids: readonly string[], decision: Decision) => Promise<readonly Refusal[]>
}

/** A request that could not be decided, and why in the words of the service. */
export interface Refusal {
  readonly id: string
  readonly message: string
}

const exemption: KindOfRequest = {
  path: '/exemption_requests',
  waiting: 'status:open',
  permission: 'Manage User Requests',
  read: async ({ query, ...request }) => {
    const { data } = await getExemptionRequests({
      ...request,
      query: { order: 'desc', ...query, expand: 'requester,device,issues' },
    })
    return { data: { ...data, data: data.data.map(fromExemption) } }
  },
  find: async (id, signal) => {
    const query = { expand: 'requester,device,issues' }
    const request = { path: { id }, query, signal, throwOnError: true } as const
    return fromExemption((await getExemptionRequestsById(request)).data)
  },
  decide: async (ids, { status, internal, explanation, expiresAt, coversFuture }) => {
    const approval = { expires_at: expiresAt, covers_future_issues: coversFuture }
    const { data } = await postExemptionRequestsDecisions({
      body: {
        ids: [...ids],
        status,
        internal_message: internal,
        ...(status === 'approved' ? approval : { denial_explanation: explanation }),
      },
      throwOnError: true,
    })
    return refusalsOf(data)
  },
}

const registration: KindOfRequest = {
  path: '/registration_requests',
  waiting: 'status:pending',
  permission: 'Manage User Requests',
  read: async ({ query, ...request }) => {
    const { data } = await getRegistrationRequests({
      ...request,
      query: { order: 'desc', ...query, expand: 'requester,device' },
    })
    return { data: { ...data, data: data.data.map(fromRegistration) } }
  },
  find: async (id, signal) => {
    const query = { expand: 'requester,device' }
    const request = { path: { id }, query, signal, throwOnError: true } as const
    return fromRegistration((await getRegistrationRequestsById(request)).data)
  },
  decide: async (ids, { status, internal, explanation }) => {
    const { data } = await postRegistrationRequestsDecisions({
      body: {
        ids: [...ids],
        status,
        ...(internal === '' ? {} : { internal_message: internal }),
        ...(status === 'denied' ? { end_user_denial_message: explanation } : {}),
      },
      throwOnError: true,
    })
    return refusalsOf(data)
  },
}

const reenrollment: KindOfRequest = {
  path: '/reenrollment_requests',
  waiting: 'status:pending',
  permission: 'Manage Enrollment',
  read: async ({ query, ...request }) => {
    const { data } = await getReenrollmentRequests({
      ...request,
      query: { order: 'desc', ...query, expand: 'device' },
    })
    return { data: { ...data, data: data.data.map(fromReenrollment) } }
  },
  find: async (id, signal) => {
    const request = {
      path: { id },
      query: { expand: 'device' },
      signal,
      throwOnError: true,
    } as const
    return fromReenrollment((await getReenrollmentRequestsById(request)).data)
  },
  decide: async (ids, { status }) => {
    const refusals: Refusal[] = []
    for (const id of ids) {
      try {
        await patchReenrollmentRequestsById({ path: { id }, body: { status }, throwOnError: true })
      } catch (error) {
        refusals.push({ id, message: error instanceof Error ? error.message : String(error) })
      }
    }
    return refusals
  },
}

function refusalsOf({ data }: Decisions): Refusal[] {
  return data.flatMap(({ id, decided, message }) =>
    decided ? [] : [{ id, message: message ?? '' }],
  )
}

export const REQUEST_KINDS: Readonly<Record<Kind, KindOfRequest>> = {
  exemption,
  registration,
  reenrollment,
}

function fromExemption(request: ExemptionRequest): InboxRequest {
  return {
    id: request.id,
    status: request.status,
    isWaiting: request.status === 'open',
    from: toPerson(request.requester_information),
    device: toDevice(request.device_information),
    message: request.requester_message,
    askedAt: request.requested_at,
    expiresAt: request.expires_at,
    decidedAt: request.decided_at,
    decidedBy: request.decided_by,
    internalNote: request.internal_explanation,
    personNote: request.denial_explanation,
    issues: request.issues.map(({ identifier, record }) => ({
      id: identifier,
      title: record?.title ?? identifier,
    })),
  }
}

function fromRegistration(request: RegistrationRequest): InboxRequest {
  return {
    id: request.id,
    status: request.status,
    isWaiting: request.status === 'pending',
    from: toPerson(request.requester_information),
    device: toDevice(request.device_information),
    message: request.requester_message,
    askedAt: request.requested_at,
    expiresAt: null,
    decidedAt: request.decided_at,
    decidedBy: request.decided_by,
    internalNote: request.internal_approval_note ?? request.internal_denial_note,
    personNote: request.end_user_denial_note,
    issues: [],
  }
}

function fromReenrollment(request: ReenrollmentRequest): InboxRequest {
  return {
    id: request.id,
    status: request.status,
    isWaiting: request.status === 'pending',
    from: {
      label: `${request.host_name} · ${request.ip_address ?? request.host_identifier}`,
      path: null,
    },
    device: toDevice(request.device_information),
    message: texts.reasons[request.reason],
    askedAt: request.last_requested_at,
    expiresAt: request.approved_until,
    decidedAt: request.decided_at,
    decidedBy: request.decided_by,
    internalNote: null,
    personNote: null,
    issues: [],
  }
}

function toPerson({ identifier, record }: PersonLink) {
  return {
    label: record?.name ?? identifier,
    path: identifier === '' ? null : `/people/${identifier}`,
  }
}

function toDevice({ identifier, record }: DeviceLink) {
  return {
    label: record?.name ?? (identifier === '' ? '–' : identifier),
    path: identifier === '' ? null : `/devices/${identifier}`,
  }
}
