import { AppError } from '../../platform/app-error.ts'
import { API_VERSION_HEADER, API_VERSIONS } from './api-version.ts'
import { statusOfError } from '../../platform/http/error-response.ts'
import { foldSchemas } from './openapi-components.ts'
import type { OpenApiDocument, OpenApiOperation, OpenApiParameter } from './openapi-format.ts'
import {
  IDEMPOTENCY_KEY_HEADER,
  IDEMPOTENCY_KEY_LENGTH_MAX,
  IDEMPOTENT_REPLAYED_HEADER,
} from '../../platform/http/idempotency/idempotency-key.ts'
import { curlSample, exampleOfSchema } from './openapi-samples.ts'
import {
  isRepeatable,
  methodsOf,
  permissionOf,
  toDocumentPath,
  type Method,
  type Operation,
} from '../../platform/http/operation.ts'
import { GZIP_CONTENT_TYPE, gzipFile } from '../../platform/http/route.ts'

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
  'Retry-After': 'Seconds to wait before the next request; 0 when there is no need to.',
  'RateLimit-Limit': 'Requests that are accepted in any 60 seconds.',
  'Ratelimit-Remaining': 'Requests that would be accepted now.',
  'Ratelimit-Reset': 'When one more is accepted, in seconds since the epoch.',
}

const ERROR_RESPONSES = {
  BadRequest: 'The request is malformed, or a parameter is missing, unknown or out of range.',
  Unauthorized: 'No valid credential, or the organisation has switched the feature off.',
  Forbidden: 'The key lacks the permission that the operation needs.',
  NotFound: 'There is no such record.',
  Conflict:
    'The present state of the record stands against it, or the first request with the same idempotency key is still at work.',
  PayloadTooLarge: 'The body is larger than the operation takes.',
  UnsupportedMediaType: 'The body is not JSON.',
  UnprocessableEntity: 'The body is JSON, but a member is missing, unknown or not allowed.',
  TooManyRequests: 'The key has used up its requests.',
  InternalServerError: 'An unexpected fault; the request id finds it in the log.',
  ServiceUnavailable: 'The service cannot answer at the moment.',
} as const

type ErrorResponse = keyof typeof ERROR_RESPONSES

/**
 * The document with everything that the routes have in common: credentials, version, rate limit and
 * error answers, operation ids that are unique, examples of searches, and no schema twice or in vain.
 */
export function finishOpenApiDocument(
  document: OpenApiDocument,
  routes: readonly Operation[],
): OpenApiDocument {
  const paths: Record<string, Record<string, OpenApiOperation>> = {}
  for (const route of routes) {
    const path = toDocumentPath(route.path)
    for (const method of methodsOf(route)) {
      const operation = document.paths[path]?.[method.toLowerCase()]
      if (operation === undefined) throw new Error(`${method} ${path} is not in the document`)
      paths[path] = {
        ...paths[path],
        [method.toLowerCase()]: finishOperation(operation, route, method, document),
      }
    }
  }
  const tags = [...new Set(routes.flatMap((route) => route.tags))].sort().map((name) => ({ name }))
  return foldSchemas({
    ...document,
    tags,
    paths,
    components: { ...document.components, ...commonComponents() },
  })
}

function finishOperation(
  operation: OpenApiOperation,
  route: Operation,
  method: Method,
  document: OpenApiDocument,
): OpenApiOperation {
  const isAlias = method !== route.method
  const body = exampleBodyOf(operation, route, document)
  const sample = curlSample(route, { method, baseUrl: document.servers?.[0]?.url ?? '', body })
  return {
    ...operation,
    ...withBodyExample(operation, body),
    ...(route.deprecation === undefined ? {} : { deprecated: true }),
    operationId: isAlias ? `${operation.operationId}ByPut` : operation.operationId,
    parameters: [
      ...(operation.parameters ?? []).map((parameter) => withExamples(parameter, route)),
      { $ref: '#/components/parameters/ApiVersion' },
      ...(isRepeatable(route) ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
    ],
    responses: {
      ...finishSuccesses(operation.responses, route),
      ...Object.fromEntries(errorResponsesOf(route)),
    },
    security: route.access === 'public' ? [] : [{ apiKey: [] }],
    ...permissionNote(route),
    'x-codeSamples': [{ lang: 'Shell', label: 'curl', source: sample }],
  } as OpenApiOperation
}

/** The example of the route, else one made from the schema of its body. */
function exampleBodyOf(
  operation: OpenApiOperation,
  route: Operation,
  document: OpenApiDocument,
): unknown {
  const schema = operation.requestBody?.content?.['application/json']?.schema
  if (schema === undefined) return undefined
  return route.example.body ?? exampleOfSchema(schema, document.components['schemas'] ?? {})
}

function withBodyExample({ requestBody }: OpenApiOperation, example: unknown): object {
  const media = requestBody?.content?.['application/json']
  if (media === undefined) return {}
  return {
    requestBody: { ...requestBody, content: { 'application/json': { ...media, example } } },
  }
}

function withExamples(parameter: OpenApiParameter, route: Operation): OpenApiParameter {
  const isSearch = parameter.name === 'query' && parameter.in === 'query'
  return isSearch && Object.keys(route.queryExamples).length > 0
    ? Object.assign({}, parameter, { examples: route.queryExamples })
    : parameter
}

function permissionNote(route: Operation): object {
  const permission = permissionOf(route)
  return permission === null ? {} : { 'x-permission': permission }
}

function finishSuccesses(
  responses: Readonly<Record<string, unknown>>,
  route: Operation,
): Record<string, unknown> {
  const names = [
    ...(route.access === 'public' ? [] : Object.keys(RATE_LIMIT_HEADERS)),
    ...(isRepeatable(route) ? [IDEMPOTENT_REPLAYED_HEADER] : []),
  ]
  const headers = Object.fromEntries(
    names.map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  )
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [
      status,
      status === '204'
        ? { description: 'Done; there is nothing to say.', headers }
        : { ...toMedia(response as object, route), description: 'The request succeeded.', headers },
    ]),
  )
}

/** A file is described as JSON by the generator. */
function toMedia(response: object, route: Operation): object {
  return Object.values(route.responses).includes(gzipFile)
    ? { content: { [GZIP_CONTENT_TYPE]: { schema: { type: 'string', format: 'binary' } } } }
    : response
}

function errorResponsesOf(route: Operation): [string, { $ref: string }][] {
  const isPublic = route.access === 'public'
  const hasParams = route.path.includes(':')
  const isWrite = isRepeatable(route)
  const names: (ErrorResponse | false)[] = [
    'BadRequest',
    !isPublic && 'Unauthorized',
    permissionOf(route) !== null && 'Forbidden',
    (!isPublic || hasParams) && 'NotFound',
    route.mayConflict && 'Conflict',
    isWrite && 'PayloadTooLarge',
    isWrite && 'UnsupportedMediaType',
    isWrite && 'UnprocessableEntity',
    !isPublic && 'TooManyRequests',
    'InternalServerError',
    'ServiceUnavailable',
  ]
  return names
    .filter((name) => name !== false)
    .map((name) => [String(STATUS_OF_RESPONSE[name]), { $ref: `#/components/responses/${name}` }])
}

const STATUS_OF_RESPONSE: Record<ErrorResponse, number> = {
  BadRequest: statusOfError(new AppError('malformed', 'invalid_parameter', '')),
  Unauthorized: statusOfError(new AppError('unauthenticated', 'unauthenticated', '')),
  Forbidden: statusOfError(new AppError('forbidden', 'permission_missing', '')),
  NotFound: statusOfError(new AppError('not_found', 'not_found', '')),
  Conflict: statusOfError(new AppError('conflict', 'conflict', '')),
  PayloadTooLarge: statusOfError(new AppError('too_large', 'body_too_large', '')),
  UnsupportedMediaType: statusOfError(new AppError('malformed', 'unsupported_media_type', '')),
  UnprocessableEntity: statusOfError(new AppError('invalid', 'invalid_body', '')),
  TooManyRequests: statusOfError(new AppError('rate_limited', 'rate_limited', '')),
  InternalServerError: 500,
  ServiceUnavailable: statusOfError(new AppError('unavailable', 'unavailable', '')),
}

function commonComponents(): Record<string, Record<string, unknown>> {
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } }
  return {
    parameters: { ApiVersion: VERSION_PARAMETER, IdempotencyKey: IDEMPOTENCY_PARAMETER },
    headers: {
      ...Object.fromEntries(
        Object.entries(RATE_LIMIT_HEADERS).map(([name, description]) => [
          name,
          { description, schema: { type: 'integer' } },
        ]),
      ),
      [IDEMPOTENT_REPLAYED_HEADER]: {
        description: 'There when the answer is that of the first request with the same key.',
        schema: { type: 'string', const: 'true' },
      },
    },
    responses: Object.fromEntries(
      Object.entries(ERROR_RESPONSES).map(([name, description]) => [
        name,
        { description, content },
      ]),
    ),
    securitySchemes: {
      apiKey: { type: 'http', scheme: 'bearer', description: 'An API key: `k2sk_v1_...`.' },
    },
  }
}
