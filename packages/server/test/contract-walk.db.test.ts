/*
 * A client of the K2 API on this service, with a real key: every operation that it knows, in both
 * versions, answered with the objects that it knows. Judged by facts about that API alone, not by what
 * this service publishes.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { API_VERSIONS } from '../src/surfaces/rest/api-version.ts'
import type { Method } from '../src/platform/http/operation.ts'
import { startContractService, type ContractService } from './contract/contract-service.ts'
import { createContractWorld, type ContractWorld } from './contract/contract-world.ts'
import { findAnswerFaults } from './contract/find-answer-faults.ts'
import { K2_OBJECTS } from './contract/k2-objects.ts'
import { K2_OPERATIONS, type K2Operation } from './contract/k2-operations.ts'
import { findRecipe } from './contract/recipes.ts'

let service: ContractService
let world: ContractWorld
const closers: (() => Promise<void>)[] = []

beforeAll(async () => {
  service = await startContractService()
  closers.push(service.close)
  world = await createContractWorld(service)
  closers.push(world.close)
})

afterAll(async () => {
  for (const close of closers.reverse()) await close()
})

/** Reads first, so that writes cannot spoil them. */
const OPERATIONS = Object.entries(K2_OPERATIONS).sort(
  ([a], [b]) => Number(!a.startsWith('GET')) - Number(!b.startsWith('GET')),
)

/** Sends what the recipe of an operation prepares, and another query if one is given. */
async function send(name: string, version: string, query?: Readonly<Record<string, string>>) {
  const recipe = findRecipe(name)
  if (recipe === undefined) throw new Error(`no recipe for ${name}`)
  const prepared = await recipe.prepare(world)
  const parameters = new URLSearchParams(query ?? prepared.query ?? {}).toString()
  return service.send({
    method: name.slice(0, name.indexOf(' ')) as Method,
    url: parameters === '' ? prepared.path : `${prepared.path}?${parameters}`,
    key: service.fullKey,
    headers: { 'x-kolide-api-version': version, 'content-type': 'application/json' },
    ...(prepared.body === undefined ? {} : { body: prepared.body }),
  })
}

type Answer = Readonly<Record<string, unknown>>

function readRecords({ isList }: K2Operation, body: Answer): readonly Answer[] {
  return isList ? (body['data'] as Answer[]) : [body]
}

describe.each(API_VERSIONS)('a client of the K2 API in version %s', (version) => {
  const known = OPERATIONS.filter(([, { isNew }]) => !isNew || version !== API_VERSIONS[0])
  const unknown = OPERATIONS.filter((entry) => !known.includes(entry))

  it('gets the objects that it knows from every operation', async () => {
    for (const [name, operation] of known) {
      const answer = await send(name, version)
      expect([name, answer.statusCode, answer.body]).toEqual([name, 200, answer.body])
      const records = readRecords(operation, answer.json())
      expect(records.length, `${name} shows nothing`).toBeGreaterThan(0)
      const facts = operation.answers === null ? {} : K2_OBJECTS[operation.answers]
      if (facts === undefined) throw new Error(`no facts of ${String(operation.answers)}`)
      for (const record of records) expect(findAnswerFaults(facts, record), name).toEqual([])
    }
  })

  it('gets pages with all four members, and the next page by the cursor alone', async () => {
    for (const [name] of known.filter(([each, { isList }]) => isList && each.startsWith('GET'))) {
      const first = await send(name, version, { per_page: '1' })
      const { pagination } = first.json<{ pagination: Answer }>()
      expect(pagination, name).toEqual({
        next: expect.any(String) as unknown,
        next_cursor: expect.any(String) as unknown,
        current_cursor: '',
        count: 1,
      })
      const cursor = String(pagination['next_cursor'])
      if (cursor === '') continue
      expect(pagination['next'], name).toContain(`cursor=${encodeURIComponent(cursor)}`)
      const next = await send(name, version, { cursor })
      expect([name, next.statusCode, next.body]).toEqual([name, 200, next.body])
      expect(next.json<{ pagination: Answer }>().pagination['current_cursor']).toBe(cursor)
    }
  })

  it('searches by every field with every operator that it knows, with and without quotes', async () => {
    for (const [name, operation] of known) {
      for (const query of listSearches(operation)) {
        const answer = await send(name, version, { query })
        expect([name, query, answer.statusCode, answer.body]).toEqual([
          name,
          query,
          200,
          answer.body,
        ])
      }
    }
  })

  it('finds what the other version has added to be unknown', async () => {
    for (const [name] of unknown) {
      expect([name, (await send(name, version)).statusCode]).toEqual([name, 404])
    }
    expect(unknown.length).toBe(version === API_VERSIONS[0] ? 3 : 0)
  })
})

function listSearches(operation: K2Operation): string[] {
  return operation.searchableFields.flatMap((field) => {
    const [, name = '', operators = ''] = /^(\w+)(\W+)$/.exec(field) ?? []
    const value = exampleOf(operation, name)
    return [...operators].flatMap((operator) => {
      const text = operators.includes('<') ? '2026-01-02T03:04:05.678Z' : value
      return [`${name}${operator}${text}`, `${name}${operator}"${text}"`]
    })
  })
}

function exampleOf({ answers }: K2Operation, field: string): string {
  const fact = K2_OBJECTS[answers ?? '']?.[field]
  return fact?.words?.[0] ?? (fact?.type === 'boolean' ? 'true' : '1')
}
