/*
 * The wire form of a record, by its schema. The schema is the one list of what a record shows: a member is
 * read from the record by its name in the casing of the code, and only what the record has otherwise is worked
 * out. Owns how records become members of the wire; what a record shows is its schema's.
 */
import type { z } from 'zod'
import { toOwnName, type CamelCase } from '../db/record-table.ts'
import { toIsoTime } from './iso-time.ts'

/** How a column is written: a time as ISO 8601. */
type Written<Value> = Value extends Date ? string : Value

/** The member of a row that a member of the wire is read from; without one, a row that has none. */
type Source<Row, Name extends string> =
  CamelCase<Name> extends keyof Row ? Row[CamelCase<Name>] : Missing

/** No value of a row is of this type. */
type Missing = 'missing in the row'

/** Null is left out of a member that may be absent. */
type Taken<Value> = undefined extends Value ? Value | null : Value

/** Whether a member can be read from the row, must be worked out, or has nothing in the row. */
type Origin<Row, Json, Name extends keyof Json & string> = [Source<Row, Name>] extends [Missing]
  ? 'missing'
  : [Written<Source<Row, Name>>] extends [Taken<Json[Name]>]
    ? 'read'
    : 'unfit'

type NamesBy<Row, Json, Kind> = {
  [Name in keyof Json & string]-?: Origin<Row, Json, Name> extends Kind ? Name : never
}[keyof Json & string]

/** What the row does not have, or not as it is shown; and what of the rest is to be shown otherwise. */
type WorkedOut<Row, Json> = Pick<Json, NamesBy<Row, Json, 'missing'>> & {
  readonly [Name in NamesBy<Row, Json, 'unfit'>]: Json[Name]
} & Partial<Pick<Json, NamesBy<Row, Json, 'read'>>>

/**
 * The wire form of a row. Members of `workedOut` come before those of the row; the compiler asks for each
 * that the row does not have in the form of the wire. Times are written as ISO 8601, and null is left out
 * where the schema knows no null.
 */
export function toWire<Schema extends z.ZodObject, Row extends object>(
  schema: Schema,
  row: Row,
  ...[workedOut]: object extends WorkedOut<Row, z.input<Schema>>
    ? [WorkedOut<Row, z.input<Schema>>?]
    : [WorkedOut<Row, z.input<Schema>>]
): z.input<Schema> {
  const own: Values = workedOut ?? NOTHING
  const read = row as Values
  const json: Record<string, unknown> = {}
  for (const { name, source, takesNull } of membersOf(schema)) {
    const value = name in own ? own[name] : read[source]
    if (value === undefined || (value === null && !takesNull)) continue
    json[name] = value instanceof Date ? toIsoTime(value) : value
  }
  return json as z.input<Schema>
}

type Values = Readonly<Record<string, unknown>>

const NOTHING: Values = {}

interface WireMember {
  readonly name: string
  /** Its name in records of the code. */
  readonly source: string
  readonly takesNull: boolean
}

const KNOWN = new WeakMap<z.ZodObject, readonly WireMember[]>()

/** What a schema says of its members, worked out once. */
function membersOf(schema: z.ZodObject): readonly WireMember[] {
  const known = KNOWN.get(schema)
  if (known !== undefined) return known
  const members = Object.entries(schema.shape).map(([name, member]) => ({
    name,
    source: toOwnName(name),
    takesNull: (member as z.ZodType).safeParse(null).success,
  }))
  KNOWN.set(schema, members)
  return members
}
