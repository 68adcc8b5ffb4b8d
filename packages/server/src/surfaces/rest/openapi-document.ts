/*
 * What the operations of the REST API have in common in its document: credentials, version, idempotency keys,
 * rate limit, refusals and commands to try them with. The rest is written by platform/http/openapi.ts.
 */
import type { SearchField } from '../../platform/search/search-field.ts'
import { STATUS_OF_KIND } from '../../platform/http/error-response.ts'
import {
  IDEMPOTENCY_KEY_HEADER,
  IDEMPOTENCY_KEY_LENGTH_MAX,
  IDEMPOTENT_REPLAYED_HEADER,
} from '../../platform/http/idempotency/idempotency-key.ts'
import { bodyExampleOf, jsonContent, type OpenApiOperation } from '../../platform/http/openapi.ts'
import {
  isRepeatable,
  permissionOf,
  type Method,
  type Operation,
} from '../../platform/http/operation.ts'
import { API_VERSION_HEADER, API_VERSIONS } from './api-version.ts'
import { curlSample } from './openapi-samples.ts'

const VERSION_PARAMETER = {
  name: API_VERSION_HEADER,
  in: 'header',
  required: false,
  description: 'The version of the API that the client was written for; the latest when left out.',
  schema: { type: 'string', enum: [...API_VERSIONS] },
}

const IDEMPOTENCY_PARAMETER = {
  name: IDEMPOTENCY_KEY_HEADER,
  in: 'header',
  required: false,
  description:
    'Any text that no other request of the key carries. The request can be repeated with it for 24 hours: it is done once, and a repetition gets the first answer.',
  schema: { type: 'string', minLength: 1, maxLength: IDEMPOTENCY_KEY_LENGTH_MAX },
}

const RATE_LIMIT_HEADERS = {
  'RateLimit-Limit': 'Requests that are accepted in any 60 seconds.',
  'Ratelimit-Remaining': 'Requests that would be accepted now.',
  'Ratelimit-Reset': 'When one more is accepted, in seconds since the epoch.',
}

const RETRY_AFTER = 'Retry-After'
/** The refusals after which a client waits. */
const STATUSES_TO_WAIT_AFTER: readonly number[] = [
  STATUS_OF_KIND.rate_limited,
  STATUS_OF_KIND.unavailable,
]

/** The refusals that operations have in common. */
const ERROR_RESPONSES = {
  BadRequest: {
    status: STATUS_OF_KIND.malformed,
    description: 'The request is malformed, or a parameter is missing, unknown or out of range.',
  },
  Unauthorized: {
    status: STATUS_OF_KIND.unauthenticated,
    description: 'No valid credential, or the organisation has switched the feature off.',
  },
  Forbidden: {
    status: STATUS_OF_KIND.forbidden,
    description:
      'The key or the admin lacks the permission that the operation needs, the operation asks for a step-up (`x-step-up`) within the last five minutes, or the request does not come from the console whose session it carries.',
  },
  NotFound: { status: STATUS_OF_KIND.not_found, description: 'There is no such record.' },
  Conflict: {
    status: STATUS_OF_KIND.conflict,
    description:
      'The present state of the record stands against it, or the first request with the same idempotency key is still at work.',
  },
  PayloadTooLarge: {
    status: STATUS_OF_KIND.too_large,
    description: 'The body is larger than the operation takes.',
  },
  UnsupportedMediaType: { status: 415, description: 'The body is not JSON.' },
  UnprocessableEntity: {
    status: STATUS_OF_KIND.invalid,
    description: 'The body is JSON, but a member is missing, unknown or not allowed.',
  },
  TooManyRequests: {
    status: STATUS_OF_KIND.rate_limited,
    description: 'The key has used up its requests.',
  },
  InternalServerError: {
    status: 500,
    description: 'An unexpected fault; the request id finds it in the log.',
  },
  ServiceUnavailable: {
    status: STATUS_OF_KIND.unavailable,
    description: 'The service cannot answer at the moment.',
  },
} as const

type ErrorResponse = keyof typeof ERROR_RESPONSES

/** The operation with what holds for every operation of the API. */
export function completeOperation(
  described: OpenApiOperation,
  route: Operation,
  { method, baseUrl }: { readonly method: Method; readonly baseUrl: string },
): OpenApiOperation {
  const { parameters, requestBody, responses, ...texts } = described
  const body = bodyExampleOf(described)
  const sample = curlSample(route, { method, baseUrl, body })
  const completed = {
    operationId: method === route.method ? route.operationId : `${route.operationId}ByPut`,
    ...texts,
    tags: route.tags,
    ...(requestBody === undefined ? {} : { requestBody: { required: true, ...requestBody } }),
    parameters: [
      ...(parameters ?? []).map((parameter) => withExamples(parameter, route)),
      { $ref: '#/components/parameters/ApiVersion' },
      ...(isRepeatable(route) ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
    ],
    responses: {
      ...withHeaders(responses, route),
      ...Object.fromEntries(errorResponsesOf(route)),
    },
    ...(route.deprecation === undefined ? {} : { deprecated: true }),
    security: securityOf(route),
    ...permissionNote(route),
    ...(route.stepUp ? { 'x-step-up': true } : {}),
    'x-codeSamples': [{ lang: 'Shell', label: 'curl', source: sample }],
  }
  return completed
}

/** A session stands in place of a key; what is about the session itself takes no key. */
function securityOf({ access }: Operation): object[] {
  if (access === 'public') return []
  return 'session' in access ? [{ session: [] }] : [{ apiKey: [] }, { session: [] }]
}

function withExamples(parameter: object, route: Operation): object {
  const isSearch =
    'name' in parameter && parameter.name === 'query' && Object.keys(route.queryExamples).length > 0
  if (!isSearch) return parameter
  const { queryExamples: examples, searchFields } = route
  return { ...parameter, examples, 'x-search-fields': searchFields.map(toSearchField) }
}

function permissionNote(route: Operation): object {
  const permission = permissionOf(route)
  return permission === null ? {} : { 'x-permission': permission }
}

function withHeaders(
  responses: OpenApiOperation['responses'],
  route: Operation,
): Record<string, object> {
  const names = [
    ...(route.access === 'public' ? [] : Object.keys(RATE_LIMIT_HEADERS)),
    ...(isRepeatable(route) ? [IDEMPOTENT_REPLAYED_HEADER] : []),
  ]
  const headers = Object.fromEntries(
    names.map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  )
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [status, { ...response, headers }]),
  )
}

function errorResponsesOf(route: Operation): [string, { $ref: string }][] {
  // Whoever signs in is nobody yet, and can be refused all the same.
  const isOpen = route.access === 'public' && route.method === 'GET'
  const hasParams = route.path.includes(':')
  const isWrite = route.method !== 'GET'
  const names: (ErrorResponse | false)[] = [
    'BadRequest',
    !isOpen && 'Unauthorized',
    !isOpen && 'Forbidden',
    (!isOpen || hasParams) && 'NotFound',
    route.mayConflict && 'Conflict',
    isWrite && 'PayloadTooLarge',
    isWrite && 'UnsupportedMediaType',
    isWrite && 'UnprocessableEntity',
    !isOpen && 'TooManyRequests',
    'InternalServerError',
    'ServiceUnavailable',
  ]
  return names
    .filter((name) => name !== false)
    .map((name) => [
      String(ERROR_RESPONSES[name].status),
      { $ref: `#/components/responses/${name}` },
    ])
}

/** What operations refer to, but for schemas. */
export function commonComponents(errorSchema: object): Record<string, Record<string, unknown>> {
  return {
    parameters: { ApiVersion: VERSION_PARAMETER, IdempotencyKey: IDEMPOTENCY_PARAMETER },
    headers: {
      ...Object.fromEntries(
        Object.entries(RATE_LIMIT_HEADERS).map(([name, description]) => [
          name,
          { description, schema: { type: 'integer' } },
        ]),
      ),
      [RETRY_AFTER]: {
        description: 'Seconds to wait before the next request.',
        schema: { type: 'integer' },
      },
      [IDEMPOTENT_REPLAYED_HEADER]: {
        description: 'There when the answer is that of the first request with the same key.',
        schema: { type: 'string', const: 'true' },
      },
    },
    responses: Object.fromEntries(
      Object.entries(ERROR_RESPONSES).map(([name, { status, description }]) => [
        name,
        {
          description,
          ...(STATUSES_TO_WAIT_AFTER.includes(status) && {
            headers: { [RETRY_AFTER]: { $ref: `#/components/headers/${RETRY_AFTER}` } },
          }),
          ...jsonContent(errorSchema),
        },
      ]),
    ),
    securitySchemes: {
      apiKey: { type: 'http', scheme: 'bearer', description: 'An API key: `k2sk_v1_...`.' },
      session: {
        type: 'apiKey',
        in: 'cookie',
        name: '__Host-heliograph_session',
        description:
          'The session of an admin in the console. Writes carry `X-Heliograph-Console: 1` and come from a page of the service.',
      },
    },
  }
}

/** A searchable field for programs: what builders of searches need to know. */
function toSearchField({ name, type, operators, values, list }: SearchField) {
  return {
    name,
    type,
    operators,
    ...(values === undefined ? {} : { values }),
    ...(list === true ? { takes_list: true } : {}),
  }
}
