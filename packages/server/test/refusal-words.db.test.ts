/*
 * What the service says of a request that is not valid is in its own words, at every operation of both
 * documents: never in those of the library that checks.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { BASE_URL } from './support/api-app.ts'
import { createTestKey } from './support/api-keys.ts'
import {
  ISSUER,
  startAwkwardService,
  type AwkwardService,
} from './support/awkward/awkward-service.ts'
import { PERMISSIONS } from '../src/schema/permissions.ts'

/** How the sentences of the library begin, and what stands in their middle. */
const FOREIGN =
  /Invalid (?:input|option|string|number|key|value|discriminator|element|ISO|email|URL|UUID|IPv)|Too (?:small|big)|Unrecognized key|, received |>=\d|<=\d/

/** Of each type one, and some that are long, empty or nested. */
const JUNK: readonly unknown[] = [
  null,
  true,
  -1,
  0.5,
  '',
  'junk',
  'x'.repeat(5_000),
  [],
  [null],
  Array.from({ length: 2_000 }, () => 'x'),
  {},
]

interface Schema {
  readonly $ref?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
}

interface Parameter {
  readonly name: string
  readonly in: string
}

interface Described {
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

let service: AwkwardService

beforeAll(async () => {
  service = await startAwkwardService({ HELIOGRAPH_RATE_LIMIT_PER_MINUTE: '1000000' })
})
afterAll(() => service.close())

it('is said by the REST API', async () => {
  const key = await createTestKey(service.services, PERMISSIONS)
  const headers = { authorization: `Bearer ${key}` }
  await send(`${BASE_URL}/ssf_streams`, 'POST', headers, { name: 'Gateway' })
  expect(await listForeignWords(`${BASE_URL}/openapi_specifications/2026-04-07`, headers)).toEqual(
    [],
  )
})

it('is said by the standard surface', async () => {
  const headers = { authorization: `Bearer ${await service.newToken()}` }
  await send(`${ISSUER}/streams`, 'POST', headers, {})
  expect(await listForeignWords(`${ISSUER}/openapi.json`, headers)).toEqual([])
})

/** Spoils every request that a document describes; answers the refusals that are in foreign words. */
async function listForeignWords(
  documentUrl: string,
  headers: Readonly<Record<string, string>>,
): Promise<string[]> {
  const { text } = await service.wire({ method: 'GET', url: documentUrl })
  const document = JSON.parse(text) as Document
  const found: string[] = []
  let refusalCount = 0
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, described] of Object.entries(methods)) {
      for (const { url, body } of spoiledRequests(document, path, described)) {
        const answer = await send(url, method.toUpperCase() as 'POST', headers, body)
        if (answer.status === 400 || answer.status === 422) refusalCount += 1
        expect(answer.status, `${method} ${url} ${JSON.stringify(body)}`).not.toBe(500)
        if (answer.status < 400 || !FOREIGN.test(answer.text)) continue
        found.push(`${method} ${path}: ${answer.text.slice(0, 300)}`)
      }
    }
  }
  expect(refusalCount).toBeGreaterThan(100)
  return found
}

function* spoiledRequests(document: Document, path: string, described: Described) {
  const withIds = (id: string) =>
    `${path.startsWith('http') ? '' : BASE_URL}${path.replaceAll(/\{[^}]+\}/g, id)}`
  const base = withIds('1')
  if (withIds('%00') !== base) yield { url: withIds('%00'), body: undefined }
  const queried = (described.parameters ?? []).filter((parameter) => parameter.in === 'query')
  for (const { name } of queried) {
    for (const value of ['', 'junk', '-1', '\0', 'x'.repeat(3_000)]) {
      yield { url: `${base}?${new URLSearchParams({ [name]: value }).toString()}`, body: undefined }
    }
  }
  yield { url: `${base}?junk=1`, body: undefined }
  const schema = described.requestBody?.content['application/json']?.schema
  if (schema === undefined) return
  const bodies = JUNK.flatMap((junk) =>
    [0, 1, 2].map((depth) => spoil(document, schema, junk, depth)),
  )
  const different = new Map(bodies.map((body) => [JSON.stringify(body), body]))
  for (const body of different.values()) yield { url: base, body }
}

/** A body with junk in the place of every member, or of every member of its members. */
function spoil(document: Document, schema: Schema, junk: unknown, depth: number): unknown {
  const members = membersOf(document, schema)
  if (depth === 0) return junk
  if (schema.items !== undefined) return [spoil(document, schema.items, junk, depth)]
  if (members.length === 0) return junk
  return Object.fromEntries(
    members.map(([name, member]) => [name, spoil(document, member, junk, depth - 1)]),
  )
}

function membersOf(document: Document, schema: Schema): [string, Schema][] {
  const target = resolve(document, schema)
  const parts = [...(target.anyOf ?? []), ...(target.oneOf ?? []), ...(target.allOf ?? [])]
  return [
    ...Object.entries(target.properties ?? {}),
    ...parts.flatMap((part) => membersOf(document, part)),
  ]
}

function resolve(document: Document, schema: Schema): Schema {
  const name = schema.$ref?.split('/').at(-1)
  return name === undefined ? schema : (document.components.schemas[name] ?? {})
}

function send(
  url: string,
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE',
  headers: Readonly<Record<string, string>>,
  body: unknown,
) {
  const payload =
    body === undefined || method === 'GET' || method === 'DELETE'
      ? { headers }
      : {
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }
  return service.wire({ method, url, ...payload })
}
