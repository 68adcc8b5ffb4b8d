import type { OpenApiDocument } from './openapi-format.ts'

const SCHEMA_PREFIX = '#/components/schemas/'
const INPUT_SUFFIX = 'Input'

/**
 * A document whose component schemas are those that something refers to, sorted by name. The generator
 * writes each schema twice, for input and for output; where both say the same, one is left.
 */
export function foldSchemas(document: OpenApiDocument): OpenApiDocument {
  const schemas = document.components['schemas'] ?? {}
  const renamed = new Map(
    Object.keys(schemas)
      .filter((name) => isFoldable(name, schemas))
      .map((name) => [SCHEMA_PREFIX + name, SCHEMA_PREFIX + name.slice(0, -INPUT_SUFFIX.length)]),
  )
  const folded = mapReferences(document, (reference) => renamed.get(reference) ?? reference)
  const all = folded.components['schemas'] ?? {}
  const roots = { ...folded, components: { ...folded.components, schemas: {} } }
  const used = collectUsed(roots, all)
  return {
    ...folded,
    components: {
      ...folded.components,
      schemas: Object.fromEntries([...used].sort().map((name) => [name, all[name]])),
    },
  }
}

function isFoldable(name: string, schemas: Readonly<Record<string, unknown>>): boolean {
  if (!name.endsWith(INPUT_SUFFIX)) return false
  const output = schemas[name.slice(0, -INPUT_SUFFIX.length)]
  return output !== undefined && comparableText(schemas[name]) === comparableText(output)
}

/** References count by what they refer to, whichever of its two forms. */
function comparableText(schema: unknown): string {
  return JSON.stringify(
    mapReferences(schema, (reference) =>
      reference.endsWith(INPUT_SUFFIX) ? reference.slice(0, -INPUT_SUFFIX.length) : reference,
    ),
  )
}

function mapReferences<Value>(value: Value, map: (reference: string) => string): Value {
  return JSON.parse(JSON.stringify(value), (key, inner: unknown) =>
    key === '$ref' && typeof inner === 'string' ? map(inner) : inner,
  ) as Value
}

function collectUsed(root: unknown, schemas: Readonly<Record<string, unknown>>): Set<string> {
  const used = new Set<string>()
  const pending: unknown[] = [root]
  while (pending.length > 0) {
    mapReferences(pending.pop(), (reference) => {
      const name = reference.slice(SCHEMA_PREFIX.length)
      if (reference.startsWith(SCHEMA_PREFIX) && !used.has(name)) {
        used.add(name)
        pending.push(schemas[name] ?? {})
      }
      return reference
    })
  }
  return used
}
