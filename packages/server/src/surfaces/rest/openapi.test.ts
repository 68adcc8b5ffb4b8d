import { pino } from 'pino'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { SearchField } from '../../platform/search/search-field.ts'
import { createHttpApp } from '../../platform/http/create-app.ts'
import { registerDocs } from './docs.ts'
import { registerHealth } from '../../platform/http/health.ts'
import { listRoute } from '../../platform/http/list-route.ts'
import { buildOpenApiDocument, registerOpenApi } from './openapi.ts'
import { noContent, route } from '../../platform/http/route.ts'

const owner = z.object({ name: z.string() }).meta({ id: 'ExampleOwner' })
const example = z
  .object({ id: z.string(), seen_at: z.iso.datetime().nullable(), owner })
  .meta({ id: 'ExampleRecord' })
z.object({ unused: z.string() }).meta({ id: 'ExampleUnused' })

const fields: SearchField[] = [
  { name: 'seen_at', type: 'timestamp', operators: ['<', '>'] },
  { name: 'name', type: 'text', operators: [':', '~'] },
]

const routes = [
  listRoute({
    path: '/examples',
    summary: 'List examples',
    tags: ['Examples'],
    permission: null,
    fields,
    item: example,
    fetch: async () => [],
    toJson: () => ({ id: '1', seen_at: null, owner: { name: 'x' } }),
  }),
  route({
    method: 'PATCH',
    path: '/examples/:id',
    summary: 'Change an example',
    tags: ['Examples'],
    permission: 'Manage Checks',
    body: z.strictObject({ owner }),
    responses: { 200: example },
    handler: async () => ({ id: '1', seen_at: null, owner: { name: 'x' } }),
  }),
  route({
    method: 'DELETE',
    path: '/examples/:id',
    summary: 'Delete an example',
    tags: ['Examples'],
    permission: 'Manage Checks',
    versions: ['2026-04-07'],
    responses: { 204: noContent },
    handler: async () => undefined,
  }),
  route({
    method: 'GET',
    path: '/.well-known/example',
    summary: 'Anyone',
    tags: ['Open'],
    permission: 'public',
    responses: { 200: z.object({ ok: z.boolean() }) },
    handler: async () => ({ ok: true }),
  }),
  route({
    method: 'GET',
    path: '/hidden',
    summary: 'Hidden',
    tags: ['Open'],
    permission: 'public',
    hidden: true,
    responses: { 200: z.object({}) },
    handler: async () => ({}),
  }),
]

const baseUrl = 'https://trust.example.com'
const document = buildOpenApiDocument({ routes, baseUrl })

/** The member at a path of the document. */
function at(...path: string[]): unknown {
  let value: unknown = document
  for (const key of path) value = (value as Record<string, unknown>)[key]
  return value
}

describe('the OpenAPI document', () => {
  it('is 3.1, names the world-facing address and the paths that are not hidden', () => {
    expect(document).toMatchObject({
      openapi: '3.1.0',
      info: { version: '2026-04-07' },
      servers: [{ url: baseUrl }],
      tags: [{ name: 'Examples' }, { name: 'Open' }],
    })
    expect(Object.keys(document.paths).sort()).toEqual([
      '/.well-known/example',
      '/examples',
      '/examples/{id}',
    ])
  })

  it('gives every operation an id of its own, PUT aliases included', () => {
    const ids = Object.values(document.paths).flatMap((path) =>
      Object.values(path).map((operation) => operation.operationId),
    )
    expect(ids).toContain('patchExamplesById')
    expect(ids).toContain('patchExamplesByIdByPut')
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('shows a command that sends each operation, with a body that its schema describes', () => {
    const sampleOf = (path: string, method: string) =>
      (at('paths', path, method, 'x-codeSamples') as { source: string }[])[0]?.source
    expect(sampleOf('/examples', 'get')).toBe(
      `curl '${baseUrl}/examples' \\\n  -H "Authorization: Bearer $API_KEY"`,
    )
    expect(sampleOf('/examples/{id}', 'patch')).toBe(
      [
        `curl -X PATCH '${baseUrl}/examples/1'`,
        '-H "Authorization: Bearer $API_KEY"',
        '-H "Idempotency-Key: $(date +%s)-$RANDOM"',
        "-H 'Content-Type: application/json'",
        `-d '{"owner":{"name":"text"}}'`,
      ].join(' \\\n  '),
    )
    expect(sampleOf('/.well-known/example', 'get')).toBe(`curl '${baseUrl}/.well-known/example'`)
  })

  it('offers an idempotency key on writes of known callers, and nowhere else', () => {
    const parametersOf = (path: string, method: string) =>
      JSON.stringify(at('paths', path, method, 'parameters'))
    expect(parametersOf('/examples/{id}', 'patch')).toContain('IdempotencyKey')
    expect(parametersOf('/examples/{id}', 'delete')).toContain('IdempotencyKey')
    expect(parametersOf('/examples', 'get')).not.toContain('IdempotencyKey')
  })

  it('says which versions there are and which of them end', async () => {
    const older = buildOpenApiDocument({ routes, baseUrl, version: '2023-05-26' })
    const { description } = older.info as { description: string }
    expect(description).toContain('**2026-04-07**: Current.')
    expect(description).toContain(
      '**2023-05-26** (this document): Deprecated since 2026-04-07; answers until 2028-04-07',
    )
  })

  it('documents the errors and the credential of every operation', () => {
    expect(at('paths', '/examples/{id}', 'patch', 'security')).toEqual([
      { apiKey: [] },
      { session: [] },
    ])
    expect(Object.keys(at('paths', '/examples/{id}', 'patch', 'responses') as object)).toEqual([
      '200',
      '400',
      '401',
      '403',
      '404',
      '409',
      '413',
      '415',
      '422',
      '429',
      '500',
      '503',
    ])
    expect(at('paths', '/.well-known/example', 'get', 'security')).toEqual([])
    expect(Object.keys(at('paths', '/.well-known/example', 'get', 'responses') as object)).toEqual([
      '200',
      '400',
      '500',
      '503',
    ])
  })

  it('holds each schema once, and only those that something refers to', () => {
    const names = Object.keys(at('components', 'schemas') as object)
    expect(names).toEqual(['Error', 'ExampleOwner', 'ExampleRecord', 'Pagination'])
    expect(
      at(
        'paths',
        '/examples/{id}',
        'patch',
        'requestBody',
        'content',
        'application/json',
        'schema',
      ),
    ).toMatchObject({
      properties: { owner: { $ref: '#/components/schemas/ExampleOwner' } },
      required: ['owner'],
      additionalProperties: false,
    })
  })

  it('refers to nothing that is missing', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)]
    expect(references.length).toBeGreaterThan(10)
    for (const [, path = ''] of references) expect(at(...path.split('/')), path).toBeDefined()
  })

  it('writes times as date-time without their regular expression, and lets answers grow', () => {
    const record = at('components', 'schemas', 'ExampleRecord')
    expect(record).not.toHaveProperty('additionalProperties')
    expect(record).toMatchObject({
      properties: {
        seen_at: { anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }] },
      },
    })
    expect(JSON.stringify(record)).not.toContain('pattern')
  })

  it('shows per_page as an integer and an example per field and operator of the search', () => {
    const parameters = at('paths', '/examples', 'get', 'parameters') as Record<string, unknown>[]
    const perPage = parameters.find((parameter) => parameter['name'] === 'per_page')
    const query = parameters.find((parameter) => parameter['name'] === 'query')
    expect(perPage).toMatchObject({
      required: false,
      schema: { type: 'integer', minimum: 1, maximum: 100, default: 25 },
    })
    expect(Object.keys(query?.['examples'] as object)).toEqual([
      'seen_at<',
      'seen_at>',
      'name:',
      'name~',
    ])
  })

  it('leaves out what a version does not know', async () => {
    const old = buildOpenApiDocument({ routes, baseUrl, version: '2023-05-26' })
    expect(Object.keys(old.paths['/examples/{id}'] ?? {}).sort()).toEqual(['patch', 'put'])
  })
})

const apps: ReturnType<typeof createHttpApp>[] = []
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close()
})

function setUp() {
  const app = createHttpApp({
    logger: pino({ level: 'silent' }),
    baseUrl,
    limits: { bodyBytesMax: 1_000 },
  })
  apps.push(app)
  return app
}

describe('the public pages', () => {
  it('serve the document per version, by header and by path', async () => {
    const app = setUp()
    registerOpenApi(app, { routes, baseUrl })
    const latest = await app.inject({ url: '/openapi.json' })
    const headers = { 'x-service-api-version': '2023-05-26' }
    const old = await app.inject({ url: '/openapi.json', headers })
    const byPath = await app.inject({ url: '/openapi_specifications/2023-05-26' })
    const list = await app.inject({ url: '/openapi_specifications' })
    expect(latest.json()).toMatchObject({ info: { version: '2026-04-07' } })
    expect(old.json()).toMatchObject({ info: { version: '2023-05-26' } })
    expect(byPath.body).toBe(old.body)
    expect(list.json()).toMatchObject({
      data: [
        { version: '2023-05-26', spec_url: `${baseUrl}/openapi_specifications/2023-05-26` },
        {},
      ],
    })
    const unknown = await app.inject({ url: '/openapi_specifications/2020-01-01' })
    expect(unknown.statusCode).toBe(404)
  })

  it('render the reference from this origin alone', async () => {
    const app = setUp()
    registerDocs(app)
    const redirect = await app.inject({ url: '/docs' })
    expect(redirect.statusCode).toBe(301)
    const page = await app.inject({ url: '/docs/' })
    expect(page.statusCode).toBe(200)
    expect(page.body).toContain('js/scalar.js')
    expect(page.body).not.toMatch(/https?:\/\//)
    const policy = String(page.headers['content-security-policy'])
    expect(policy).toMatch(/script-src 'self' 'sha256-[\w+/=]+';/)
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toContain('http')
    const script = await app.inject({ url: '/docs/js/scalar.js' })
    expect(script.statusCode).toBe(200)
    expect(script.headers['cache-control']).toBe('public, max-age=3600')
  })

  it('tell that the process lives, and whether it can serve, without reasons', async () => {
    const app = setUp()
    let isDatabaseUp = true
    registerHealth(app, {
      database: async () => {
        if (!isDatabaseUp) throw new Error('password authentication failed')
      },
    })
    expect((await app.inject({ url: '/healthz' })).json()).toEqual({ status: 'ok' })
    const ready = await app.inject({ url: '/readyz' })
    expect([ready.statusCode, ready.json()]).toEqual([
      200,
      { status: 'ok', checks: { database: 'ok' } },
    ])
    isDatabaseUp = false
    const unready = await app.inject({ url: '/readyz' })
    expect(unready.statusCode).toBe(503)
    expect(unready.json()).toEqual({ status: 'unavailable', checks: { database: 'failed' } })
  })
})
