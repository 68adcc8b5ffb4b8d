/* What a published schema says of its fields, in the words of `k2-objects.ts`. */
import type { Fact, FactType } from './k2-objects.ts'
import type { PublishedDocument } from './published-contract.ts'

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
}

/** The fields of a schema of the document; `undefined` when there is no such schema. */
export function describeFields(
  document: PublishedDocument,
  name: string,
): Readonly<Record<string, Fact>> | undefined {
  const schemas = document.components.schemas as Readonly<Record<string, Schema>>
  const schema = schemas[name]
  if (schema === undefined) return undefined
  const required = schema.required ?? []
  return Object.fromEntries(
    Object.entries(schema.properties ?? {}).map(([field, property]) => [
      field,
      {
        ...describe(property, schemas),
        ...(required.includes(field) ? {} : { optional: true as const }),
      },
    ]),
  )
}

function describe(schema: Schema, schemas: Readonly<Record<string, Schema>>): Fact {
  if (schema.$ref !== undefined) {
    return describe(schemas[schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)] ?? {}, schemas)
  }
  const alternatives = schema.anyOf?.filter(({ type }) => type !== 'null')
  if (alternatives?.length === 1 && alternatives[0] !== undefined) {
    return { ...describe(alternatives[0], schemas), nullable: true }
  }
  const types = [schema.type ?? 'object'].flat()
  const words = schema.enum?.filter((word) => word !== null).map(String)
  return {
    type: typeOf(types.find((type) => type !== 'null') ?? 'object', schema, schemas),
    ...(types.includes('null') ? { nullable: true as const } : {}),
    ...(words === undefined ? {} : { words: words.sort() }),
  }
}

function typeOf(type: string, schema: Schema, schemas: Readonly<Record<string, Schema>>): FactType {
  if (type === 'string' && schema.format === 'date-time') return 'timestamp'
  if (type === 'object' && schema.properties?.['identifier'] !== undefined) return 'link'
  if (type === 'array' && schema.items !== undefined) {
    return describe(schema.items, schemas).type === 'link' ? 'links' : 'array'
  }
  return type as FactType
}
