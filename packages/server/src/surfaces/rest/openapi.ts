/*
 * The document of the REST API in each of its versions, and where it is served. openapi-document.ts says what
 * its operations have in common.
 */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { errorBodySchema } from '../../platform/http/error-response.ts'
import { IDEMPOTENCY_KEY_HEADER } from '../../platform/http/idempotency/idempotency-key.ts'
import { documentPaths, type OpenApiDocument } from '../../platform/http/openapi.ts'
import { createSchemaComponents, type JsonSchema } from '../../platform/http/openapi-schemas.ts'
import type { Operation } from '../../platform/http/operation.ts'
import {
  API_VERSION_HEADER,
  API_VERSIONS,
  LATEST_API_VERSION,
  resolveApiVersion,
  type ApiVersion,
} from './api-version.ts'
import { deprecationOfVersion } from './deprecation.ts'
import { commonComponents, completeOperation } from './openapi-document.ts'
import { exampleOfSchema } from './openapi-samples.ts'

export interface OpenApiOptions {
  readonly routes: readonly Operation[]
  /** What the world calls the service; the only server of the document. */
  readonly baseUrl: string
  readonly version?: ApiVersion
}

const DESCRIPTION = `Devices, people, checks, issues, sign-ins and streams of a device trust service.

## Requests

Every request but the public ones carries \`Authorization: Bearer <API key>\`. Lists are read page by page in ascending order of ids; \`pagination.next\` is the address of the next page. A write that carries an \`${IDEMPOTENCY_KEY_HEADER}\` can be repeated for 24 hours without being done twice.`

/** What holds for versions, the one of the document marked. */
function describeVersions(version: ApiVersion): string {
  const lines = API_VERSIONS.map((each) => {
    const end = deprecationOfVersion(each)
    const isShown = each === version ? ' (this document)' : ''
    const fate =
      end?.sunset === undefined
        ? 'Current.'
        : `Deprecated since ${toDay(end.since)}; answers until ${toDay(end.sunset)} at least.`
    return `- **${each}**${isShown}: ${fate}`
  })
  return `## Versions

The header \`${API_VERSION_HEADER}\` names the version that a client was written for; without it the latest one answers. A version answers for at least 24 months after its successor has appeared; from then on its answers carry \`Deprecation\` and \`Sunset\`.

${lines.join('\n')}`
}

function toDay(time: Date): string {
  return time.toISOString().slice(0, 10)
}

/** The document of one API version; of the latest when none is named. Deterministic. */
export function buildOpenApiDocument(options: OpenApiOptions): OpenApiDocument {
  const { baseUrl, version = LATEST_API_VERSION } = options
  const routes = options.routes.filter(
    (route) => !route.hidden && (route.versions?.includes(version) ?? true),
  )
  const { write, schemas } = createSchemaComponents(routes, [errorBodySchema])
  const exampleOf = (schema: JsonSchema) => exampleOfSchema(schema, schemas)
  const paths = documentPaths(routes, { write, exampleOf }, (described, route, method) =>
    completeOperation(described, route, { method, baseUrl }),
  )
  return {
    openapi: '3.1.0',
    info: {
      title: 'Heliograph API',
      version,
      description: `${DESCRIPTION}\n\n${describeVersions(version)}`,
    },
    components: { schemas, ...commonComponents(write(errorBodySchema, 'output')) },
    paths,
    servers: [{ url: baseUrl }],
    tags: [...new Set(routes.flatMap((route) => route.tags))].sort().map((name) => ({ name })),
  }
}

/**
 * Serves `/openapi.json` in the version that the request names, and every version under
 * `/openapi_specifications`. Public; each document is built at its first request.
 */
export function registerOpenApi(
  app: FastifyInstance,
  options: Omit<OpenApiOptions, 'version'>,
): void {
  const texts = new Map<ApiVersion, string>()
  const sendDocument = async (reply: FastifyReply, version: ApiVersion): Promise<FastifyReply> => {
    const text = texts.get(version) ?? JSON.stringify(buildOpenApiDocument({ ...options, version }))
    texts.set(version, text)
    return reply.type('application/json; charset=utf-8').send(text)
  }
  app.get('/openapi.json', async (request, reply) =>
    sendDocument(reply, resolveApiVersion(request.headers)),
  )
  app.get('/openapi_specifications', async () => ({
    data: API_VERSIONS.map((version) => ({
      version,
      spec_url: `${options.baseUrl}/openapi_specifications/${version}`,
    })),
  }))
  for (const version of API_VERSIONS) {
    app.get(`/openapi_specifications/${version}`, async (_request, reply) =>
      sendDocument(reply, version),
    )
  }
}
