import type { z } from 'zod'

type OverrideContext = Parameters<NonNullable<z.core.ToJSONSchemaParams['override']>>[0]

/** Adjusts what zod writes for a schema to what a reader of the document wants to know. */
export function overrideJsonSchema({ zodSchema, jsonSchema }: OverrideContext): void {
  // The regular expression of a time is 250 characters long and says what `format` says.
  if (jsonSchema.format === 'date-time' || jsonSchema.format === 'date') delete jsonSchema.pattern
  // Answers may gain fields; only a schema that was declared strict refuses others.
  const { def } = zodSchema._zod
  if (def.type === 'object' && !('catchall' in def && def.catchall !== undefined)) {
    delete jsonSchema.additionalProperties
  }
  if (def.type === 'date') Object.assign(jsonSchema, { type: 'string', format: 'date-time' })
}
