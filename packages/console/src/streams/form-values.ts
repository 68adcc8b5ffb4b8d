/* The fields of the form of a stream, and how they become a request. */
import { ApiError } from '../api/client.ts'
import type { CreateStreamInput, Stream, UpdateStreamInput } from '../api/generated/types.gen.ts'
import { requestsChanges } from './stream-facts.ts'
import { texts } from './texts.ts'

export type Credential = 'keep' | 'none' | 'header' | 'oauth' | 'mtls'
type Profile = NonNullable<CreateStreamInput['profile']>
type Delivery = NonNullable<UpdateStreamInput['delivery']>
type Members = Omit<CreateStreamInput, 'delivery'>

export interface StreamFormValues {
  name: string
  description: string
  deliveryType: 'push' | 'poll'
  url: string
  specVersion: '1.0' | 'draft' | 'both'
  hasEvents: boolean
  credential: Credential
  header: string
  tokenEndpoint: string
  clientId: string
  clientSecret: string
  scope: string
  certificate: string
  privateKey: string
  /** Empty: as it is. */
  profile: Profile | ''
  subjectForm: 'complex' | 'iss_sub' | 'email'
  reasonFields: ('reason_admin' | 'reason_user')[]
  damping: number | ''
  heartbeat: number | ''
  pairwise: boolean
  sequence: boolean
  fallback: boolean
}

const NEW: StreamFormValues = {
  name: '',
  description: '',
  deliveryType: 'push',
  url: '',
  specVersion: '1.0',
  hasEvents: true,
  credential: 'none',
  header: '',
  tokenEndpoint: '',
  clientId: '',
  clientSecret: '',
  scope: '',
  certificate: '',
  privateKey: '',
  profile: '',
  subjectForm: 'complex',
  reasonFields: ['reason_admin', 'reason_user'],
  damping: 0,
  heartbeat: '',
  pairwise: false,
  sequence: false,
  fallback: false,
}

/** What the form begins with. */
export function toFormValues(stream?: Stream): StreamFormValues {
  if (stream === undefined) return NEW
  return {
    ...NEW,
    name: stream.name,
    description: stream.description ?? '',
    deliveryType: stream.delivery_type,
    url: stream.delivery.endpoint_url,
    specVersion: stream.spec_version,
    hasEvents: requestsChanges(stream),
    credential: 'keep',
    tokenEndpoint: stream.delivery.oauth?.token_endpoint ?? '',
    clientId: stream.delivery.oauth?.client_id ?? '',
    scope: stream.delivery.oauth?.scope ?? '',
    subjectForm: stream.subject_form,
    reasonFields: [...stream.reason_fields],
    damping: stream.damping_seconds,
    heartbeat: stream.heartbeat_minutes ?? '',
    pairwise: stream.pairwise_identifiers,
    sequence: stream.heliograph_sequence,
    fallback: stream.fallback_to_poll,
  }
}

const METHODS = { push: 'urn:ietf:rfc:8935', poll: 'urn:ietf:rfc:8936' } as const

/** What each choice of the form becomes in a request; undefined where it says nothing. */
const MEMBERS: {
  readonly [Name in keyof StreamFormValues]?: (values: StreamFormValues) => Members
} = {
  name: ({ name }) => ({ name: name.trim() }),
  description: ({ description }) => ({ description: description.trim() || null }),
  hasEvents: ({ hasEvents }) => (hasEvents ? { events_requested: [texts.eventType] } : {}),
  profile: ({ profile }) => (profile === '' ? {} : { profile }),
  specVersion: ({ specVersion }) => ({ spec_version: specVersion }),
  subjectForm: ({ subjectForm }) => ({ subject_form: subjectForm }),
  reasonFields: ({ reasonFields }) => ({ reason_fields: reasonFields }),
  damping: ({ damping }) => ({ damping_seconds: damping === '' ? 0 : damping }),
  heartbeat: ({ heartbeat }) => ({ heartbeat_minutes: heartbeat === '' ? null : heartbeat }),
  pairwise: ({ pairwise }) => ({ pairwise_identifiers: pairwise }),
  sequence: ({ sequence }) => ({ heliograph_sequence: sequence }),
  fallback: ({ fallback, deliveryType }) =>
    deliveryType === 'push' ? { fallback_to_poll: fallback } : {},
}

/** The request of a new stream. */
export function toNewStream(values: StreamFormValues): CreateStreamInput {
  const method = METHODS[values.deliveryType]
  return { ...toMembers(values, NEW), delivery: { ...toDelivery(values), method } }
}

/** The request of a change of what was `before`: what was not touched is left out. */
export function toStreamChange(
  values: StreamFormValues,
  before: StreamFormValues,
  stream: Stream,
): UpdateStreamInput {
  const delivery = toDelivery(values, before, stream)
  const members = toMembers(values, before)
  return Object.keys(delivery).length === 0 ? members : { ...members, delivery }
}

function toMembers(values: StreamFormValues, before: StreamFormValues): Members {
  const names = Object.keys(MEMBERS) as (keyof StreamFormValues)[]
  return names
    .filter((name) => JSON.stringify(values[name]) !== JSON.stringify(before[name]))
    .reduce<Members>((all, name) => ({ ...all, ...MEMBERS[name]?.(values) }), {})
}

function toDelivery(
  values: StreamFormValues,
  before?: StreamFormValues,
  stream?: Stream,
): Delivery {
  const { deliveryType, credential } = values
  const url = values.url.trim()
  const isMoved = before === undefined || deliveryType !== before.deliveryType
  return {
    ...(isMoved ? { method: METHODS[deliveryType] } : {}),
    ...(isMoved || url !== before.url ? { endpoint_url: url === '' ? null : url } : {}),
    ...(deliveryType === 'push' && credential !== (before?.credential ?? 'none')
      ? {
          ...(isRenewed(credential, stream) ? {} : NO_CREDENTIALS),
          ...toCredential(values, stream),
        }
      : {}),
  }
}

/** What is chosen takes the place of all of them: what stays would have to fit the receiver too. */
const NO_CREDENTIALS = { authorization_header: null, oauth: null, mtls: null } as const

/** Whether the stream has such a credential, which is given anew: one of another kind beside it stays. */
export function isRenewed(credential: Credential, stream: Stream | undefined): boolean {
  switch (credential) {
    case 'keep':
      return true
    case 'none':
      return false
    case 'header':
      return stream?.authorization_header_set === true
    case 'oauth':
    case 'mtls':
      return (stream?.delivery[credential] ?? null) !== null
  }
}

function toCredential(values: StreamFormValues, stream?: Stream): Delivery {
  switch (values.credential) {
    case 'keep':
    case 'none':
      return {}
    case 'header':
      return { authorization_header: values.header }
    case 'mtls':
      return { mtls: { certificate: values.certificate, private_key: values.privateKey } }
    case 'oauth':
      return {
        oauth: {
          token_endpoint: values.tokenEndpoint.trim(),
          client_id: values.clientId.trim(),
          ...(values.clientSecret === '' ? {} : { client_secret: values.clientSecret }),
          scope: values.scope.trim() || null,
          ...toMethod(values, stream),
        },
      }
  }
}

/** Whether the service signs in for tokens by its keys, which a secret takes the place of. */
export function isSigned(stream: Stream | undefined): boolean {
  return stream?.delivery.oauth?.auth_method === 'private_key_jwt'
}

/** How the service signs in for tokens stays as it is, but where a secret takes the place of its keys. */
function toMethod({ clientSecret }: StreamFormValues, stream: Stream | undefined) {
  const method = stream?.delivery.oauth?.auth_method
  const isGivenUp = isSigned(stream) && clientSecret !== ''
  return method === undefined || isGivenUp ? {} : { auth_method: method }
}

/** Which field of the form a member of the request belongs to. */
const FIELDS: Readonly<Record<string, keyof StreamFormValues>> = {
  name: 'name',
  description: 'description',
  'delivery.endpoint_url': 'url',
  'delivery.method': 'deliveryType',
  'delivery.authorization_header': 'header',
  authorization_header: 'header',
  'delivery.oauth.token_endpoint': 'tokenEndpoint',
  'delivery.oauth.client_id': 'clientId',
  'delivery.oauth.client_secret': 'clientSecret',
  'delivery.oauth.scope': 'scope',
  'delivery.mtls.certificate': 'certificate',
  'delivery.mtls.private_key': 'privateKey',
  spec_version: 'specVersion',
  subject_form: 'subjectForm',
  reason_fields: 'reasonFields',
  damping_seconds: 'damping',
  heartbeat_minutes: 'heartbeat',
}

/** What is wrong, by the fields of the form. Null when the failure belongs to none of them. */
export function toFieldFaults(
  error: unknown,
): Partial<Record<keyof StreamFormValues, string>> | null {
  if (!(error instanceof ApiError)) return null
  const faults = Object.entries(error.fields).flatMap(([path, message]) => {
    const field = FIELDS[path]
    return field === undefined ? [] : [[field, message] as const]
  })
  return faults.length === 0 ? null : Object.fromEntries(faults)
}
