/*
 * The OpenAPI 3.1 document of a surface, written from the operations that serve it: what is documented is what
 * validates and answers. Owns what every surface says of an operation; credentials, refusals and headers are
 * added by the surface.
 */
import type { z } from 'zod'
import { methodsOf, noContent, toDocumentPath, type Method, type Operation } from './operation.ts'
import type { JsonSchema, SchemaWriter } from './openapi-schemas.ts'
import { mediaTypeOf } from './route.ts'

const JSON_CONTENT_TYPE = 'application/json'

/** An OpenAPI 3.1 document. */
export interface OpenApiDocument {
  readonly openapi: string
  readonly info: object
  readonly servers: readonly { readonly url: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly tags?: readonly { readonly name: string }[]
}

/** What a document says of an operation. */
export interface OpenApiOperation {
  readonly operationId?: string
  readonly summary: string
  readonly description?: string
  readonly security?: readonly object[]
  readonly parameters?: readonly object[]
  readonly requestBody?: { readonly content: Readonly<Record<string, OpenApiMedia>> }
  readonly responses: Readonly<Record<string, object>>
}

export interface OpenApiMedia {
  readonly schema: object
  readonly example?: unknown
}

/** What a schema and a body without an example are written by. */
export interface OperationWriters {
  readonly write: SchemaWriter
  readonly exampleOf?: (schema: JsonSchema) => unknown
}

/** The paths of a document. `complete` adds what the surface says of each operation. */
export function documentPaths(
  operations: readonly Operation[],
  writers: OperationWriters,
  complete: (described: OpenApiOperation, operation: Operation, method: Method) => OpenApiOperation,
): Record<string, Record<string, OpenApiOperation>> {
  const paths: Record<string, Record<string, OpenApiOperation>> = {}
  for (const operation of operations) {
    const described = describeOperation(operation, writers)
    const atPath = (paths[toDocumentPath(operation.path)] ??= {})
    for (const method of methodsOf(operation)) {
      atPath[method.toLowerCase()] = complete(described, operation, method)
    }
  }
  return paths
}

/** The content of a JSON body or answer. */
export function jsonContent(schema: object): { content: Record<string, OpenApiMedia> } {
  return { content: { [JSON_CONTENT_TYPE]: { schema } } }
}

/** The example of the body of an operation; undefined without a body. */
export function bodyExampleOf({ requestBody }: OpenApiOperation): unknown {
  return requestBody?.content[JSON_CONTENT_TYPE]?.example
}

function describeOperation(operation: Operation, writers: OperationWriters): OpenApiOperation {
  const { summary, description, responses } = operation
  const parameters = describeParameters(operation, writers.write)
  return {
    summary,
    ...(description === undefined ? {} : { description }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...describeBody(operation, writers),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, schema]) => [
        status,
        describeSuccess(schema, writers.write),
      ]),
    ),
  }
}

function describeParameters({ query, params }: Operation, write: SchemaWriter): object[] {
  const describe = (schema: z.ZodType, place: string) => {
    const { properties = {}, required = [] } = write(schema, 'input')
    return Object.entries(properties).map(([name, property]) => {
      const { description, ...own } = property as JsonSchema
      const text = description === undefined ? {} : { description }
      return { schema: own, in: place, name, required: required.includes(name), ...text }
    })
  }
  return [...describe(query, 'query'), ...describe(params, 'path')]
}

function describeBody(
  { body, example }: Operation,
  { write, exampleOf }: OperationWriters,
): Pick<OpenApiOperation, 'requestBody'> {
  if (body === undefined) return {}
  const schema = write(body, 'input')
  const shown = example.body ?? exampleOf?.(schema)
  const media = { schema, ...(shown === undefined ? {} : { example: shown }) }
  return { requestBody: { content: { [JSON_CONTENT_TYPE]: media } } }
}

function describeSuccess(schema: z.ZodType, write: SchemaWriter): object {
  if (schema === noContent) return { description: 'Done; there is nothing to say.' }
  const description = 'The request succeeded.'
  const mediaType = mediaTypeOf(schema)
  if (mediaType === undefined) return { description, ...jsonContent(write(schema, 'output')) }
  const { type, format } = schema.meta() ?? {}
  return {
    description,
    content: { [mediaType]: { schema: { type, ...(format === undefined ? {} : { format }) } } },
  }
}
