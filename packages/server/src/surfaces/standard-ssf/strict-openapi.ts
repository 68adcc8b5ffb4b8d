/*
 * The OpenAPI 3.1 document of the strict face, written from the declarations that serve it.
 */
import { z } from 'zod'
import { noContent, paramNamesOf, toDocumentPath } from '../../platform/http/operation.ts'
import { errorBodySchema } from '../../platform/http/error-response.ts'
import { ACCESS_TOKEN_SECONDS } from '../../signals/clients/authorization-server.ts'
import type { SsfDocument, SsfOperation } from './strict-endpoint.ts'
import type { StrictUrls } from '../../signals/streams/strict-urls.ts'

export interface StrictOpenApiSource {
  readonly baseUrl: string
  readonly urls: StrictUrls
  readonly operations: readonly SsfOperation[]
  readonly documents: readonly SsfDocument[]
}

const DESCRIPTION = `Shared Signals Framework 1.0 for receivers that follow the standard. Get an access token with client credentials at the token endpoint; it lasts ${ACCESS_TOKEN_SECONDS / 60} minutes. \`ssf.read\` is good for reading and polling, \`ssf.manage\` for everything.`

const REFUSALS = {
  400: 'The request is malformed; the details name what is wrong.',
  401: 'The access token is missing, unknown, expired or revoked.',
  403: 'The access token lacks the scope.',
  404: 'The client has no such stream.',
  409: 'A limit is reached, or the stream is of another kind.',
  429: 'Too many requests; `Retry-After` says when to try again.',
} as const

/** The document. Deterministic. */
export function buildStrictOpenApi(source: StrictOpenApiSource): object {
  const { baseUrl, urls, operations, documents } = source
  const paths: Record<string, Record<string, object>> = {}
  for (const { path, summary, schema } of documents) {
    paths[path] = { get: { summary, security: [], responses: { 200: toContent(summary, schema) } } }
  }
  for (const operation of operations) {
    const atPath = (paths[toDocumentPath(operation.path)] ??= {})
    atPath[operation.method.toLowerCase()] = toOperation(operation)
  }
  const scopes = {
    'ssf.read': 'Read streams and poll events.',
    'ssf.manage': 'Manage streams as well.',
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Heliograph Shared Signals', version: '1_0', description: DESCRIPTION },
    servers: [{ url: baseUrl }],
    paths,
    components: {
      securitySchemes: {
        clientCredentials: {
          type: 'oauth2',
          flows: { clientCredentials: { tokenUrl: urls.tokenEndpoint, scopes } },
        },
      },
    },
  }
}

function toOperation(operation: SsfOperation): object {
  const { access, summary, description, query, body, example, responses } = operation
  const scopes = access !== 'public' && 'scope' in access ? [access.scope] : []
  const pathParameters = paramNamesOf(operation.path).map((name) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
  const shape = query instanceof z.ZodObject ? (query.shape as Record<string, z.ZodType>) : {}
  const queryParameters = Object.entries(shape).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    description: schema.description,
    schema: { type: 'string' },
  }))
  return {
    summary,
    ...(description === undefined ? {} : { description }),
    security: [{ clientCredentials: scopes }],
    parameters: [...pathParameters, ...queryParameters],
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            content: {
              'application/json': { schema: toJsonSchema(body, 'input'), example: example.body },
            },
          },
        }),
    responses: { ...toSuccesses(responses), ...toRefusals() },
  }
}

function toSuccesses(responses: SsfOperation['responses']): Record<string, object> {
  return Object.fromEntries(
    Object.entries(responses).map(([status, schema]) => [
      status,
      schema === noContent
        ? { description: 'Done; there is nothing to say.' }
        : toContent('The request succeeded.', schema),
    ]),
  )
}

function toRefusals(): Record<string, object> {
  return Object.fromEntries(
    Object.entries(REFUSALS).map(([status, text]) => [status, toContent(text, errorBodySchema)]),
  )
}

function toContent(description: string, schema: z.ZodType): object {
  return {
    description,
    content: { 'application/json': { schema: toJsonSchema(schema, 'output') } },
  }
}

function toJsonSchema(schema: z.ZodType, io: 'input' | 'output'): object {
  const written = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  const own = Object.entries(written).filter(([name]) => name !== '$schema' && name !== 'id')
  return Object.fromEntries(own)
}
