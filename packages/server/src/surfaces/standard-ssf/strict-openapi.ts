/*
 * The OpenAPI 3.1 document of the strict face, written from the declarations that serve it.
 */
import { z } from 'zod'
import { errorBodySchema } from '../../platform/http/error-response.ts'
import { ACCESS_TOKEN_SECONDS } from '../../signals/clients/authorization-server.ts'
import type { StrictDocument, StrictEndpoint } from './strict-endpoint.ts'
import type { StrictUrls } from './strict-urls.ts'

export interface StrictOpenApiSource {
  readonly baseUrl: string
  readonly urls: StrictUrls
  readonly endpoints: readonly StrictEndpoint[]
  readonly documents: readonly StrictDocument[]
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
  const { baseUrl, urls, endpoints, documents } = source
  const paths: Record<string, Record<string, object>> = {}
  for (const { path, summary, schema } of documents) {
    paths[path] = { get: { summary, security: [], responses: { 200: toContent(summary, schema) } } }
  }
  for (const endpoint of endpoints) {
    const operations = (paths[endpoint.path] ??= {})
    operations[endpoint.method.toLowerCase()] = toOperation(endpoint)
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

function toOperation(endpoint: StrictEndpoint): object {
  const { summary, description, scope, query = {}, body, example, responses } = endpoint
  const pathParameters = [...endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
  const queryParameters = Object.entries(query).map(([name, text]) => ({
    name,
    in: 'query',
    required: false,
    description: text,
    schema: { type: 'string' },
  }))
  return {
    summary,
    ...(description === undefined ? {} : { description }),
    security: [{ clientCredentials: [scope] }],
    parameters: [...pathParameters, ...queryParameters],
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            content: { 'application/json': { schema: toJsonSchema(body, 'input'), example } },
          },
        }),
    responses: { ...toSuccesses(responses), ...toRefusals() },
  }
}

function toSuccesses(responses: StrictEndpoint['responses']): Record<string, object> {
  return Object.fromEntries(
    Object.entries(responses).map(([status, schema]) => [
      status,
      schema === null
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
