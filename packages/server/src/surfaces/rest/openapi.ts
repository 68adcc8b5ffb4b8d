/**
 * The OpenAPI 3.1 document, generated from the declared routes and their schemas: what is documented
 * is what validates and serialises. `openapi-document.ts` finishes what the generator leaves rough.
 */
import swagger from '@fastify/swagger'
import fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import {
  createJsonSchemaTransform,
  createJsonSchemaTransformObject,
} from 'fastify-type-provider-zod'
import {
  API_VERSION_HEADER,
  API_VERSIONS,
  LATEST_API_VERSION,
  resolveApiVersion,
  type ApiVersion,
} from './api-version.ts'
import { deprecationOfVersion } from './deprecation.ts'
import { IDEMPOTENCY_KEY_HEADER } from '../../platform/http/idempotency/idempotency-key.ts'
import { finishOpenApiDocument } from './openapi-document.ts'
import type { OpenApiDocument } from './openapi-format.ts'
import { overrideJsonSchema } from './openapi-schema.ts'
import { methodsOf, type Operation } from '../../platform/http/operation.ts'

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
export async function buildOpenApiDocument(options: OpenApiOptions): Promise<OpenApiDocument> {
  const version = options.version ?? LATEST_API_VERSION
  const routes = options.routes.filter(
    (route) => !route.hidden && (route.versions?.includes(version) ?? true),
  )
  const generator = fastify()
  const config = {
    zodToJsonConfig: { target: 'draft-2020-12', override: overrideJsonSchema },
  } as const
  await generator.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Heliograph API',
        version,
        description: `${DESCRIPTION}\n\n${describeVersions(version)}`,
      },
      servers: [{ url: options.baseUrl }],
    },
    transform: createJsonSchemaTransform(config),
    transformObject: createJsonSchemaTransformObject(config),
  })
  generator.setValidatorCompiler(() => () => true)
  generator.setSerializerCompiler(() => () => '')
  for (const route of routes) declareRoute(generator, route)
  await generator.ready()
  const document = generator.swagger() as unknown as OpenApiDocument
  await generator.close()
  return finishOpenApiDocument(document, routes)
}

/**
 * Serves `/openapi.json` in the version that the request names, and every version under
 * `/openapi_specifications`. Public; each document is built at its first request.
 */
export function registerOpenApi(
  app: FastifyInstance,
  options: Omit<OpenApiOptions, 'version'>,
): void {
  const texts = new Map<ApiVersion, Promise<string>>()
  const sendDocument = async (reply: FastifyReply, version: ApiVersion): Promise<FastifyReply> => {
    const text =
      texts.get(version) ??
      buildOpenApiDocument({ ...options, version }).then((document) => JSON.stringify(document))
    texts.set(version, text)
    return reply.type('application/json; charset=utf-8').send(await text)
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

function declareRoute(generator: FastifyInstance, route: Operation): void {
  const hasParams = route.path.includes(':')
  generator.route({
    method: methodsOf(route),
    url: route.path,
    exposeHeadRoute: false,
    schema: {
      summary: route.summary,
      ...(route.description === undefined ? {} : { description: route.description }),
      tags: [...route.tags],
      operationId: route.operationId,
      ...(hasParams ? { params: route.params } : {}),
      querystring: route.query,
      ...(route.body === undefined ? {} : { body: route.body }),
      response: route.responses,
    },
    handler: async () => undefined,
  })
}
