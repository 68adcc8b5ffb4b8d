/*
 * The published contract, held against the running API: every operation is exercised, and every answer
 * is judged by the OpenAPI document that the service publishes.
 */
import type { LightMyRequestResponse } from 'fastify'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { API_VERSIONS } from '../src/surfaces/rest/api-version.ts'
import { listRouteTable } from '../generate/route-table.ts'
import { isRepeatable, type Method } from '../src/platform/http/operation.ts'
import {
  startContractService,
  type ContractRequest,
  type ContractService,
} from './contract/contract-service.ts'
import { createContractWorld, type ContractWorld } from './contract/contract-world.ts'
import { K2_OBJECTS, type Fact } from './contract/k2-objects.ts'
import { describeFields } from './contract/published-fields.ts'
import { PublishedContract, type PublishedDocument } from './contract/published-contract.ts'
import type { Prepared, Recipe } from './contract/recipe.ts'
import { findRecipe, RECIPES } from './contract/recipes.ts'

/**
 * Served beside the API: documents, health, pictures, the pages of the console and of sign-ins, and what has been shut
 * down.
 */
const BESIDE_THE_API =
  /^(?:HEAD |OPTIONS |GET \/$|\S+ \/(?:openapi|docs|healthz|readyz|product-images|api\/v0|sign-in\/|console(?:$|\/assets|\/heliograph|\/\*)))/
/** Their answer is not known before the change is committed: one sends, the other changes no record. */
const LATE_ANSWERS = [
  'POST /ssf_streams/{id}/test',
  'POST /webhooks/{id}/test',
  'POST /webhooks/{id}/check_signature',
  'POST /ssf_streams/{id}/self_test',
  'POST /ssf_streams/{id}/events',
  'POST /checks/{id}/configurations/preview',
  'POST /custom_check_drafts/{id}/preview',
  'POST /exemption_requests/decisions',
  'POST /registration_requests/decisions',
  'POST /api_keys/{id}/try_permissions',
  'POST /sign_in_applications/{id}/check_request',
  'POST /sign_in_upstream_providers/{id}/check',
]
/** About the session of a browser: no key calls them, and their tests are beside them. */
const OF_SESSIONS = /^\S+ \/console\//
/** Admins change what is their own; a key needs a permission, as it has nothing of its own. */
const OF_OWNERS = /^(?:POST|PATCH|PUT|DELETE) \/saved_views/
const MISSING_ID = '999999999'

let service: ContractService
let world: ContractWorld
let contract: PublishedContract
let requestCount = 0
const closers: (() => Promise<void>)[] = []

beforeAll(async () => {
  service = await startContractService()
  closers.push(service.close)
  contract = new PublishedContract(await fetchDocument('2026-04-07'))
  world = await createContractWorld(service)
  closers.push(world.close)
})

afterAll(async () => {
  for (const close of closers.reverse()) await close()
})

async function fetchDocument(version: string): Promise<PublishedDocument> {
  const url = `/openapi_specifications/${version}`
  return (await service.send({ method: 'GET', url, key: null })).json()
}

interface Case {
  readonly name: string
  readonly method: Method
  readonly recipe: Recipe
}

/** The operations that a recipe exists for: reads first, so that writes cannot spoil them. */
function listCases(): Case[] {
  return contract.operations
    .flatMap((name): Case[] => {
      const recipe = findRecipe(name)
      const method = name.slice(0, name.indexOf(' ')) as Method
      return recipe === undefined ? [] : [{ name, method, recipe }]
    })
    .sort((a, b) => Number(a.method !== 'GET') - Number(b.method !== 'GET'))
}

function isPublic({ name }: Case): boolean {
  return contract.operation(name).security.length === 0
}

function hasBody({ name }: Case): boolean {
  return contract.operation(name).requestBody !== undefined
}

/** Sends a prepared request, and judges the answer. */
async function send(
  { name, method }: Case,
  prepared: Prepared,
  options: Partial<ContractRequest> & { readonly query?: Record<string, string> } = {},
): Promise<LightMyRequestResponse> {
  const { query: more = {}, ...request } = options
  const query = new URLSearchParams({ ...prepared.query, ...more }).toString()
  const answer = await service.send({
    method,
    url: query === '' ? prepared.path : `${prepared.path}?${query}`,
    key: service.fullKey,
    ...(prepared.body === undefined ? {} : { body: prepared.body }),
    ...request,
  })
  requestCount += 1
  expect(contract.findFaults(name, answer), `${name} ${String(answer.statusCode)}`).toEqual([])
  return answer
}

function expectRefusal(answer: LightMyRequestResponse, status: number, what: string): void {
  expect([what, answer.statusCode, answer.body]).toEqual([what, status, answer.body])
  const body = answer.json<{ request_id: string }>()
  expect(body.request_id).toBe(answer.headers['request-id'])
}

/** The kept answer was written by the transaction that wrote the audit entry. */
async function expectOneTransaction(name: string, first: LightMyRequestResponse): Promise<void> {
  const { rows } = await sql<{ has_committed_with_effect: boolean }>`
    select bool_and(a.xmin = i.xmin) as has_committed_with_effect
    from audit_entry a join idempotency_record i on i.request_id = a.request_id
    where a.request_id = ${String(first.headers['request-id'])}`.execute(service.services.db)
  expect([name, rows[0]?.has_committed_with_effect]).toEqual([name, true])
}

describe('the published document', () => {
  it('names every operation that the service answers, and no other', () => {
    const declared = listRouteTable(service.routes.filter((route) => !route.hidden))
    const paths = declared.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`)
    expect(contract.operations.sort()).toEqual(paths.sort())
    const undeclared = service.served
      .map((route) => route.replace(/:(\w+)/g, '{$1}'))
      .filter((route) => !BESIDE_THE_API.test(route) && !contract.operations.includes(route))
    expect(undeclared).toEqual([])
  })

  it('has a recipe for every operation, and no recipe for another', () => {
    const missing = contract.operations.filter(
      (name) => findRecipe(name) === undefined && !OF_SESSIONS.test(name),
    )
    expect(missing, 'add these to test/contract/').toEqual([])
    const unknown = Object.keys(RECIPES).filter((name) => !contract.operations.includes(name))
    expect(unknown).toEqual([])
  })

  it('takes a key for no operation about the session of a browser', async () => {
    const names = contract.operations.filter((name) => OF_SESSIONS.test(name))
    expect(names).toContain('GET /console/session')
    for (const name of names) {
      const [method, path] = name.replace(/\{\w+\}/g, '1').split(' ') as [Method, string]
      const answer = await service.send({ method, url: path, key: service.fullKey })
      expect(contract.findFaults(name, answer), name).toEqual([])
      const isPublic = contract.operation(name).security.length === 0
      if (isPublic && method === 'GET') continue
      const code = isPublic ? 'cross_site_request' : 'permission_missing'
      // A public one looks at its body first.
      expect([name, ['invalid_body', code]]).toEqual([
        name,
        expect.arrayContaining([answer.json<{ code: string }>().code]),
      ])
    }
  })

  it('shows a command for every operation, with a body that the operation takes', () => {
    for (const { name, method } of listCases()) {
      const operation = contract.operation(name)
      const source = operation['x-codeSamples'][0]?.source ?? ''
      expect(source, name).toMatch(/^curl /)
      expect(source.includes(`-X ${method}`), name).toBe(method !== 'GET')
      const example = operation.requestBody?.content['application/json']?.example
      if (operation.requestBody === undefined) continue
      expect(contract.findRequestFaults(name, example), name).toEqual([])
      expect(source, name).toContain(JSON.stringify(example).replaceAll("'", `'\\''`))
    }
  })

  it('shows no example that its operation calls invalid', async () => {
    const refused: string[] = []
    for (const each of listCases().filter(hasBody)) {
      const { requestBody } = contract.operation(each.name)
      const body = requestBody?.content['application/json']?.example as object
      const answer = await send(each, { ...(await each.recipe.prepare(world)), body })
      if (answer.statusCode === 204) continue
      const { code, message } = answer.json<{ code?: string; message?: string }>()
      // The records that an example names need not exist.
      if (code === undefined || code === 'not_found' || code === 'conflict') continue
      refused.push(`${each.name} ${JSON.stringify(body)}: ${message ?? ''}`)
    }
    expect(refused).toEqual([])
  })
})

describe.each(Object.entries(K2_OBJECTS))('the object %s', (name, facts) => {
  it('has the names, types, words and nulls of the K2 API', () => {
    const published = describeFields(contract.document, name) ?? {}
    const shown = Object.keys(facts).map((field) => [field, published[field]] as const)
    const expected = Object.entries(facts).map(
      ([field, fact]) => [field, asShownHere(fact)] as const,
    )
    expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(expected))
  })
})

/** A fact with what this service does otherwise on purpose. */
function asShownHere({ differs, ...fact }: Fact): Fact {
  if (differs === undefined) return fact
  const shown: Partial<Record<string, unknown>> = { ...fact, ...differs }
  delete shown['reason']
  return shown as unknown as Fact
}

describe('every operation', () => {
  it('answers with success as documented', async () => {
    for (const each of listCases()) {
      const prepared = await each.recipe.prepare(world)
      const answer = await send(each, prepared)
      const what = `${each.name}: ${answer.body}`
      expect([what, answer.statusCode >= 200 && answer.statusCode < 300]).toEqual([what, true])
      if (prepared.body !== undefined) {
        expect(contract.findRequestFaults(each.name, prepared.body), each.name).toEqual([])
      }
    }
  })

  it('is refused without a credential, unless it is public', async () => {
    for (const each of listCases()) {
      const answer = await send(each, await each.recipe.prepare(world), { key: null })
      if (isPublic(each)) {
        expect(answer.statusCode, each.name).toBe(200)
      } else {
        expectRefusal(answer, 401, each.name)
        expect(answer.headers['www-authenticate']).toMatch(/^Bearer/)
      }
    }
  })

  it('is refused with 403 on every write, and answered on every read, without permissions', async () => {
    for (const each of listCases()) {
      const answer = await send(each, await each.recipe.prepare(world), { key: service.readKey })
      const permission = contract.operation(each.name)['x-permission']
      if (OF_OWNERS.test(each.name)) {
        expectRefusal(answer, 403, each.name)
      } else if (permission === undefined) {
        expect([each.name, answer.statusCode]).toEqual([each.name, 200])
        expect(each.method, `${each.name} needs no permission`).toBe('GET')
      } else {
        expectRefusal(answer, 403, each.name)
        expect(answer.json<{ message: string }>().message).toContain(permission)
      }
    }
  })

  it('is not found for records that do not exist', async () => {
    for (const each of listCases()) {
      const template = each.name.slice(each.name.indexOf(' ') + 1)
      const prepared = await each.recipe.prepare(world)
      const concrete = prepared.path.split('/')
      for (const [index, part] of template.split('/').entries()) {
        if (!part.startsWith('{')) continue
        const path = concrete.map((own, at) => (at === index ? MISSING_ID : own)).join('/')
        expectRefusal(await send(each, { ...prepared, path }), 404, `${each.name} ${part}`)
      }
    }
  })

  it('refuses parameters that do not exist', async () => {
    for (const each of listCases()) {
      const query = { nonsense: '1' }
      const answer = await send(each, await each.recipe.prepare(world), { query })
      expectRefusal(answer, 400, each.name)
      expect(answer.json()).toMatchObject({ code: 'invalid_parameter' })
    }
  })

  it('refuses bodies that are no JSON, not announced as JSON, or not valid', async () => {
    for (const each of listCases().filter(hasBody)) {
      const prepared = await each.recipe.prepare(world)
      const withText = (type: string) => ({ body: '{"', headers: { 'content-type': type } })
      const json = await send(each, prepared, withText('application/json'))
      expectRefusal(json, 400, each.name)
      expectRefusal(await send(each, prepared, withText('text/plain')), 415, each.name)
      const body = each.recipe.invalidBody ?? { ...prepared.body, nonsense: 1 }
      const invalid = await send(each, prepared, { body })
      expectRefusal(invalid, each.recipe.invalidStatus ?? 422, each.name)
      expect(invalid.json<{ details: unknown[] }>().details.length, each.name).toBeGreaterThan(0)
    }
  })

  it('is carried out once under an idempotency key, and refuses the key for another request', async () => {
    const repeatable = service.routes.filter(isRepeatable).map((route) => route.path)
    for (const each of listCases().filter(({ method }) => method !== 'GET')) {
      const path = each.name.slice(each.name.indexOf(' ') + 1).replace(/\{(\w+)\}/g, ':$1')
      expect(repeatable, each.name).toContain(path)
      const prepared = await each.recipe.prepare(world)
      const headers = { 'idempotency-key': world.unique(each.name) }
      const first = await send(each, prepared, { headers })
      const again = await send(each, prepared, { headers })
      const what = `${each.name}: ${again.body}`
      expect([what, again.headers['idempotent-replayed']]).toEqual([what, 'true'])
      expect([what, again.statusCode, again.body]).toEqual([what, first.statusCode, first.body])
      if (!LATE_ANSWERS.includes(each.name)) await expectOneTransaction(each.name, first)
      const other = await send(each, prepared, { headers, query: { nonsense: '1' } })
      expectRefusal(other, 422, each.name)
      expect(other.json()).toMatchObject({ code: 'idempotency_key_reused' })
    }
  })

  it('is documented with what stands against reading too', async () => {
    const body = { name: 'Broken', sql: 'select 1/0 as share' }
    const made = await service.send({
      method: 'POST',
      url: '/reporting/queries',
      key: service.fullKey,
      body,
    })
    const broken = String(made.json<{ id: number }>().id)
    const addresses = {
      'GET /reporting/queries/{id}': `/reporting/queries/${broken}`,
      'GET /reporting/queries/{id}/results': `/reporting/queries/${broken}/results`,
      'GET /exports/reporting/queries/{id}/results.csv': `/exports/reporting/queries/${broken}/results.csv`,
      'GET /audit_checkpoints/consistency_proof': `/audit_checkpoints/consistency_proof?from=1&to=${MISSING_ID}`,
      'GET /audit_logs/{id}/inclusion_proof': `/audit_logs/1/inclusion_proof?size=${MISSING_ID}`,
    }
    for (const [name, url] of Object.entries(addresses)) {
      const answer = await service.send({ method: 'GET', url, key: service.fullKey })
      expectRefusal(answer, 409, name)
      expect(contract.findFaults(name, answer), name).toEqual([])
    }
  })

  it('answers alike in the older version, or is unknown there', async () => {
    const older = new PublishedContract(await fetchDocument(API_VERSIONS[0]))
    const headers = { 'x-kolide-api-version': API_VERSIONS[0] }
    for (const each of listCases().filter(({ method }) => method === 'GET')) {
      const answer = await send(each, await each.recipe.prepare(world), { headers })
      const isKnown = older.operations.includes(each.name)
      expect([each.name, answer.statusCode]).toEqual([each.name, isKnown ? 200 : 404])
      if (isKnown) expect(older.findFaults(each.name, answer), each.name).toEqual([])
      expect(answer.headers['deprecation']).toBe('@1775520000')
      expect(answer.headers['sunset']).toBe('Fri, 07 Apr 2028 00:00:00 GMT')
    }
    const hidden = contract.operations.filter((name) => !older.operations.includes(name))
    expect(hidden.every((name) => name.includes('/custom_check_drafts'))).toBe(true)
    expect(hidden.length).toBeGreaterThan(0)
  })

  it('has been exercised', () => {
    expect(requestCount).toBeGreaterThan(5 * contract.operations.length)
  })
})
