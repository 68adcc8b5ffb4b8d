import type { IncomingHttpHeaders } from 'node:http'
import { badRequest, preconditionFailed } from '../../people/provisioning/scim-error.ts'
import { readProjection, type Projection } from '../../people/provisioning/projection.ts'
import { memberOf, readBody } from '../../people/provisioning/read-resource.ts'
import { SEARCH_SCHEMA, type ScimResourceType } from '../../people/provisioning/scim-schema.ts'
import type { ScimWindow } from '../../people/provisioning/scim-user-store.ts'

/** The parameters of a request, as they were sent. */
export type ScimParameters = Readonly<Record<string, unknown>>

/** What a list asks for. */
export interface ScimQuery {
  readonly filter: string | undefined
  readonly window: ScimWindow
  readonly projection: Projection
}

const COUNT_DEFAULT = 100
/** Larger counts are served as this one: RFC 7644 section 3.4.2.4 lets answers hold fewer. */
export const COUNT_MAX = 200
const START_INDEX_MAX = 1_000_000_000
const INTEGER = /^[+-]?\d{1,15}$/

/**
 * Reads the query of a list. Parameters that do not exist are no fault: clients add their own.
 *
 * @throws ScimError `invalidValue`, `invalidPath`
 */
export function readQuery(type: ScimResourceType, query: ScimParameters): ScimQuery {
  const filter = textOf(query, 'filter')
  return {
    filter: filter === undefined || filter.trim() === '' ? undefined : filter,
    window: {
      startIndex: clamp(integerOf(query, 'startIndex') ?? 1, 1, START_INDEX_MAX),
      count: clamp(integerOf(query, 'count') ?? COUNT_DEFAULT, 0, COUNT_MAX),
    },
    projection: readShown(type, query),
  }
}

/**
 * The same out of the body of a search by POST; RFC 7644 section 3.4.3.
 *
 * @throws ScimError `invalidSyntax`, `invalidValue`, `invalidPath`
 */
export function readSearchBody(type: ScimResourceType, body: unknown): ScimQuery {
  const search = readBody(body, SEARCH_SCHEMA)
  return readQuery(type, search)
}

/**
 * Which attributes the answer to a request shows.
 *
 * @throws ScimError `invalidPath`, `invalidValue`
 */
export function readShown(type: ScimResourceType, query: ScimParameters): Projection {
  return readProjection(type, namesOf(query, 'attributes'), namesOf(query, 'excludedAttributes'))
}

/**
 * Refuses a change of a resource that is no longer what the client read; RFC 7644 section 3.14.
 *
 * @throws ScimError 412
 */
export function requireVersion(headers: IncomingHttpHeaders, version: string): void {
  const condition = headers['if-match']
  if (condition !== undefined && !namesVersion(condition, version)) throw preconditionFailed()
}

/** Whether a client that reads a resource has its present version already. */
export function hasVersion(headers: IncomingHttpHeaders, version: string): boolean {
  const condition = headers['if-none-match']
  return condition !== undefined && namesVersion(condition, version)
}

/** Compared weakly; RFC 9110 section 8.8.3.2. */
function namesVersion(condition: string, version: string): boolean {
  const tags = condition.split(',').map((tag) => opaqueTag(tag.trim()))
  return tags.includes('*') || tags.includes(opaqueTag(version))
}

function opaqueTag(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(Math.max(value, min), max)
}

function integerOf(query: ScimParameters, name: string): number | undefined {
  const value = firstOf(memberOf(query, name))
  if (value === undefined || value === null || value === '') return undefined
  const text = typeof value === 'number' ? String(value) : value
  if (typeof text === 'string' && INTEGER.test(text)) return Number(text)
  throw badRequest('invalidValue', `"${name}" must be an integer.`)
}

function textOf(query: ScimParameters, name: string): string | undefined {
  const value = firstOf(memberOf(query, name))
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string') return value
  throw badRequest('invalidValue', `"${name}" must be a text.`)
}

function firstOf(value: unknown): unknown {
  return Array.isArray(value) ? (value as unknown[])[0] : value
}

function namesOf(query: ScimParameters, name: string): string[] {
  const value = memberOf(query, name)
  const texts = Array.isArray(value) ? (value as unknown[]) : [value]
  return texts
    .flatMap((text) => (typeof text === 'string' ? text.split(',') : []))
    .map((text) => text.trim())
    .filter((text) => text !== '')
}
