/*
 * Schemas in OpenAPI documents: each where it is used, and the named ones once, as components. Owns no schema.
 */
import { z } from 'zod'
import type { Operation } from './operation.ts'

/** A schema as a document holds it. */
export type JsonSchema = z.core.JSONSchema.BaseSchema

/** Which side of a schema: what is sent to the service, or what it answers. */
export type SchemaSide = 'input' | 'output'

/** The schema as it is written where it is used. */
export type SchemaWriter = (schema: z.ZodType, side: SchemaSide) => JsonSchema

export interface SchemaComponents {
  readonly write: SchemaWriter
  /** The named schemas, for `components.schemas`. */
  readonly schemas: Readonly<Record<string, JsonSchema>>
}

/**
 * Writes references to schemas that have an id. A schema that reads otherwise as input than as answer is two
 * components, that of the input with `Input` behind its name.
 */
export function createSchemaComponents(
  operations: readonly Operation[],
  others: readonly z.ZodType[],
): SchemaComponents {
  const inputs = operations.flatMap(({ query, params, body }) => [query, params, body ?? []].flat())
  const answers = operations.flatMap(({ responses }) => Object.values(responses))
  const input = writeTogether(inputs, 'input')
  const output = writeTogether([...answers, ...others], 'output')
  const inputAsOutput = writeTogether(inputs, 'output')
  const toName = (name: string, side: SchemaSide) =>
    side === 'input' && !isSame(input.named[name], inputAsOutput.named[name])
      ? `${name}Input`
      : name
  const refer = <Value>(value: Value, side: SchemaSide): Value =>
    JSON.parse(JSON.stringify(value), (key, inner: unknown) =>
      key === '$ref' && typeof inner === 'string'
        ? `#/components/schemas/${toName(inner.slice(DEFINITIONS.length), side)}`
        : inner,
    ) as Value
  const schemas = [
    ...Object.entries(input.named).map(([name, own]) => [
      toName(name, 'input'),
      refer(own, 'input'),
    ]),
    ...Object.entries(output.named).map(([name, own]) => [name, refer(own, 'output')]),
  ] as [string, JsonSchema][]
  return {
    write: (schema, side) => {
      const written = (side === 'input' ? input : output).bySchema.get(schema)
      if (written === undefined) throw new Error('the schema belongs to no operation')
      return refer(written, side)
    },
    schemas: Object.fromEntries(schemas.sort(([left], [right]) => (left < right ? -1 : 1))),
  }
}

const DEFINITIONS = '#/$defs/'

interface WrittenSchemas {
  readonly bySchema: ReadonlyMap<z.ZodType, JsonSchema>
  readonly named: Readonly<Record<string, JsonSchema>>
}

/** As the members of one object, so that schemas with an id are definitions beside it. */
function writeTogether(schemas: readonly z.ZodType[], side: SchemaSide): WrittenSchemas {
  const all = z.object(Object.fromEntries(schemas.entries()))
  const { properties = {}, $defs = {} } = z.toJSONSchema(all, {
    io: side,
    unrepresentable: 'any',
    override: adjustForReaders,
  })
  return {
    bySchema: new Map(schemas.map((schema, index) => [schema, properties[index] as JsonSchema])),
    named: Object.fromEntries(
      Object.entries($defs).map(([name, schema]) => [name, withoutIdentity(schema)]),
    ),
  }
}

function withoutIdentity(schema: JsonSchema): JsonSchema {
  return Object.fromEntries(
    Object.entries(schema).filter(([name]) => name !== '$schema' && name !== 'id'),
  )
}

function isSame(left: JsonSchema | undefined, right: JsonSchema | undefined): boolean {
  return JSON.stringify(left) === JSON.stringify(right)
}

type OverrideContext = Parameters<NonNullable<z.core.ToJSONSchemaParams['override']>>[0]

/** Adjusts what zod writes for a schema to what a reader of the document wants to know. */
function adjustForReaders({ zodSchema, jsonSchema }: OverrideContext): void {
  // The regular expression of a time is 250 characters long and says what `format` says.
  if (jsonSchema.format === 'date-time' || jsonSchema.format === 'date') delete jsonSchema.pattern
  // Answers may gain fields; only a schema that was declared strict refuses others.
  const { def } = zodSchema._zod
  if (def.type === 'object' && !('catchall' in def && def.catchall !== undefined)) {
    delete jsonSchema.additionalProperties
  }
  // A single number is a list of one: generators of clients know `enum` of numbers better than `const`.
  if (typeof jsonSchema.const === 'number') {
    jsonSchema.enum = [jsonSchema.const]
    delete jsonSchema.const
  }
  if (def.type === 'date') Object.assign(jsonSchema, { type: 'string', format: 'date-time' })
}
