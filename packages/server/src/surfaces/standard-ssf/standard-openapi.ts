/*
 * The OpenAPI 3.1 document of the standard surface, written from the declarations that serve it.
 */
import { errorBodySchema } from '../../platform/http/error-response.ts'
import {
  documentPaths,
  jsonContent,
  type OpenApiDocument,
  type OpenApiOperation,
} from '../../platform/http/openapi.ts'
import { createSchemaComponents, type JsonSchema } from '../../platform/http/openapi-schemas.ts'
import type { Operation } from '../../platform/http/operation.ts'
import { ACCESS_TOKEN_SECONDS } from '../../signals/clients/authorization-server.ts'
import type { SsfDocument, SsfOperation } from './ssf-operation.ts'
import type { SurfaceUrls } from '../../signals/streams/surface-urls.ts'

export interface StandardOpenApiSource {
  readonly baseUrl: string
  readonly urls: SurfaceUrls
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
export function buildStandardOpenApi({
  baseUrl,
  urls,
  operations,
  documents,
}: StandardOpenApiSource): OpenApiDocument {
  const shown = documents.map(({ schema }) => schema)
  const { write, schemas } = createSchemaComponents(operations, [...shown, errorBodySchema])
  const refusals = toRefusals(write(errorBodySchema, 'output'))
  const paths: Record<string, Record<string, OpenApiOperation>> = {}
  for (const { path, summary, schema } of documents) {
    const responses = { 200: toContent(summary, write(schema, 'output')) }
    paths[path] = { get: { summary, security: [], responses } }
  }
  const scopes = {
    'ssf.read': 'Read streams and poll events.',
    'ssf.manage': 'Manage streams as well.',
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Heliograph Shared Signals', version: '1_0', description: DESCRIPTION },
    servers: [{ url: baseUrl }],
    paths: {
      ...paths,
      ...documentPaths(operations, { write }, (described, { access }) =>
        completeOperation(described, access, refusals),
      ),
    },
    components: {
      schemas,
      securitySchemes: {
        clientCredentials: {
          type: 'oauth2',
          flows: { clientCredentials: { tokenUrl: urls.tokenEndpoint, scopes } },
        },
      },
    },
  }
}

function completeOperation(
  described: OpenApiOperation,
  access: Operation['access'],
  refusals: OpenApiOperation['responses'],
): OpenApiOperation {
  const scopes = access !== 'public' && 'scope' in access ? [access.scope] : []
  return {
    parameters: [],
    ...described,
    security: [{ clientCredentials: scopes }],
    responses: { ...described.responses, ...refusals },
  }
}

function toRefusals(schema: JsonSchema): Record<string, object> {
  return Object.fromEntries(
    Object.entries(REFUSALS).map(([status, text]) => [status, toContent(text, schema)]),
  )
}

function toContent(description: string, schema: JsonSchema): object {
  return { description, ...jsonContent(schema) }
}
