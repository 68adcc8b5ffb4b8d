/*
 * A runnable example of every operation, made from its documentation: an address, a body that the
 * operation takes, and the command line that sends them.
 */
import { IDEMPOTENCY_KEY_HEADER } from '../../platform/http/idempotency/idempotency-key.ts'
import {
  fillPath,
  isRepeatable,
  type Method,
  type Operation,
} from '../../platform/http/operation.ts'

/** The parts of a JSON schema that an example is made from. */
interface ExampleSchema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly const?: unknown
  readonly example?: unknown
  readonly examples?: readonly unknown[]
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly ExampleSchema[]
  readonly oneOf?: readonly ExampleSchema[]
  readonly allOf?: readonly ExampleSchema[]
  readonly properties?: Readonly<Record<string, ExampleSchema>>
  readonly required?: readonly string[]
  readonly items?: ExampleSchema
  readonly minimum?: number
}

type Schemas = Readonly<Record<string, unknown>>

const DEPTH_MAX = 8
const EXAMPLE_OF_FORMAT: Readonly<Record<string, string>> = {
  email: 'ada@example.com',
  uri: 'https://receiver.example.com/events',
  'date-time': '2026-01-02T03:04:05.678Z',
  date: '2026-01-02',
  uuid: '5b0f6a6e-6a0e-4d0c-9d53-0d0f3a3f7c11',
}

/** A value that a schema takes: what its author gave as an example, else its required members. */
export function exampleOfSchema(schema: unknown, schemas: Schemas, depth = 0): unknown {
  const { $ref, ...own } = schema as ExampleSchema
  if ($ref !== undefined) {
    return exampleOfSchema(schemas[$ref.slice($ref.lastIndexOf('/') + 1)] ?? {}, schemas, depth + 1)
  }
  const given = [own.example, own.examples?.[0], own.const, own.default, own.enum?.[0]]
  const chosen = given.find((value) => value !== undefined)
  if (chosen !== undefined || depth > DEPTH_MAX) return chosen ?? null
  const alternative = (own.anyOf ?? own.oneOf ?? own.allOf)?.[0]
  if (alternative !== undefined) return exampleOfSchema(alternative, schemas, depth + 1)
  return exampleOfType(own, schemas, depth)
}

function exampleOfType(schema: ExampleSchema, schemas: Schemas, depth: number): unknown {
  const type = Array.isArray(schema.type) ? (schema.type as string[])[0] : schema.type
  switch (type) {
    case 'object':
      return exampleOfObject(schema, schemas, depth)
    case 'array':
      return schema.items === undefined ? [] : [exampleOfSchema(schema.items, schemas, depth + 1)]
    case 'boolean':
      return true
    case 'integer':
    case 'number':
      return Math.max(schema.minimum ?? 1, 1)
    case 'string':
      return EXAMPLE_OF_FORMAT[schema.format ?? ''] ?? 'text'
    default:
      return null
  }
}

/** Of an object without required members, the first one: an example that says nothing shows nothing. */
function exampleOfObject(
  { properties = {}, required = [] }: ExampleSchema,
  schemas: Schemas,
  depth: number,
): Record<string, unknown> {
  const names = required.length > 0 ? required : Object.keys(properties).slice(0, 1)
  return Object.fromEntries(
    names.map((name) => [name, exampleOfSchema(properties[name] ?? {}, schemas, depth + 1)]),
  )
}

/** The command that sends an operation to the service, for a shell that knows `$API_KEY`. */
export function curlSample(
  route: Operation,
  { method, baseUrl, body }: { method: Method; baseUrl: string; body: unknown },
): string {
  const path = fillPath(route.path, (name) => route.example.params?.[name] ?? '1')
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}'${baseUrl}${path}${requiredQuery(route)}'`,
    ...credentialLines(route),
    ...(isRepeatable(route) ? [`-H "${IDEMPOTENCY_KEY_HEADER}: $(date +%s)-$RANDOM"`] : []),
    ...(body === undefined
      ? []
      : [
          "-H 'Content-Type: application/json'",
          `-d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`,
        ]),
  ]
  return lines.join(' \\\n  ')
}

/** What is about a session takes no key. */
function credentialLines({ access, method }: Operation): string[] {
  if (access === 'public') return []
  if (!('session' in access)) return ['-H "Authorization: Bearer $API_KEY"']
  const proof = ["-H 'Sec-Fetch-Site: same-origin'", "-H 'X-Heliograph-Console: 1'"]
  return ['-b "__Host-heliograph_session=$SESSION"', ...(method === 'GET' ? [] : proof)]
}

function requiredQuery(route: Operation): string {
  const entries = Object.entries(route.example.query ?? {})
  return entries.length === 0 ? '' : `?${new URLSearchParams(entries).toString()}`
}
