/*
 * The tables as the code knows them, held against the database that the migrations make: their names, the types
 * of their columns, what may be absent, what an insert may leave out, and the words that a check allows.
 */
import { sql } from 'kysely'
import { join } from 'node:path'
import ts from 'typescript'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts'

/** Statements reach these by name only. */
const WITHOUT_TYPE = ['audit_pending', 'rate_limit', 'rate_limit_slot', 'schema_migration']

/** How the service reads the types of PostgreSQL; a `json` or `jsonb` column may be anything. */
const READ_AS: Readonly<Record<string, string>> = {
  bool: 'boolean',
  bytea: 'Buffer',
  date: 'string',
  float8: 'number',
  int2: 'number',
  int4: 'number',
  int8: 'string',
  json: 'JSON',
  jsonb: 'JSON',
  numeric: 'string',
  text: 'string',
  timestamptz: 'Date',
  uuid: 'string',
  _int8: 'string[]',
  _text: 'string[]',
}

interface Column {
  readonly type: string
  readonly isNullable: boolean
  /** Whether an insert may leave it out. */
  readonly isOptional: boolean
  /** What a text may be; null when anything. */
  readonly words: readonly string[] | null
}

/** Under `table.column`. */
type Columns = ReadonlyMap<string, Column>

let database: TestDatabase
let inDatabase: Columns
let inCode: Columns

beforeAll(async () => {
  database = await createTestDatabase()
  inDatabase = await readDatabase()
  inCode = readTypes()
})

afterAll(() => database.close())

it('has a type for every column of every table, and none beside', () => {
  expect([...inCode.keys()].sort()).toEqual([...inDatabase.keys()].sort())
})

it('reads each column as what it is', () => {
  expect(pick(inCode, ({ type }) => type)).toEqual(
    pick(inDatabase, ({ type }, name) => (type === 'JSON' ? inCode.get(name)?.type : type)),
  )
})

it('knows which columns may be null', () => {
  expect(pick(inCode, ({ isNullable }) => isNullable)).toEqual(
    pick(inDatabase, ({ isNullable }) => isNullable),
  )
})

it('lets an insert leave out what the database fills in, and nothing else', () => {
  expect(pick(inCode, ({ isOptional }) => isOptional)).toEqual(
    pick(inDatabase, ({ isOptional }) => isOptional),
  )
})

it('knows the words that a column takes', () => {
  const closed = [...inDatabase].filter(([, { words }]) => words !== null)
  expect(closed.length).toBeGreaterThan(0)
  expect(closed.map(([name]) => [name, inCode.get(name)?.words])).toEqual(
    closed.map(([name, { words }]) => [name, words]),
  )
})

function pick<Value>(columns: Columns, of: (column: Column, name: string) => Value) {
  return Object.fromEntries(
    [...columns].map(([name, column]) => [name, of(column, name)] as const).sort(),
  )
}

async function readDatabase(): Promise<Columns> {
  const { rows } = await sql<{
    name: string
    type: string
    isNullable: boolean
    hasDefault: boolean
    check: string | null
  }>`
    select relname || '.' || attname as name, typname as type, not attnotnull as "isNullable",
      (atthasdef or attidentity <> '') as "hasDefault",
      (select pg_get_constraintdef(oid) from pg_constraint
       where conrelid = attrelid and contype = 'c' and conkey = array[attnum]
         and pg_get_constraintdef(oid) like '%= ANY (ARRAY[''%' limit 1) as check
    from pg_attribute
      join pg_class on pg_class.oid = attrelid join pg_type on pg_type.oid = atttypid
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
      and attnum > 0 and not attisdropped and relname <> all (${WITHOUT_TYPE})`.execute(database.db)
  return new Map(
    rows.map(({ name, type, isNullable, hasDefault, check }) => [
      name,
      {
        type: READ_AS[type] ?? `unknown ${type}`,
        isNullable,
        isOptional: hasDefault || isNullable,
        words: check === null ? null : wordsOf(check),
      },
    ]),
  )
}

function wordsOf(check: string): string[] {
  return [...check.matchAll(/'([^']*)'::text/g)].map(([, word]) => word ?? '').sort()
}

/** What a select and an insert of each table look like, asked of the compiler. */
const PROBE = `
import type { Insertable, Selectable } from 'kysely'
import type { Schema } from './schema.ts'
export type Selected = { [Table in keyof Schema]: Selectable<Schema[Table]> }
export type Inserted = { [Table in keyof Schema]: Insertable<Schema[Table]> }
`

function readTypes(): Columns {
  const path = join(import.meta.dirname, 'probe.ts')
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2024,
    types: ['node'],
  }
  const files = ts.createCompilerHost(options)
  const host: ts.CompilerHost = {
    ...files,
    fileExists: (name) => name === path || files.fileExists(name),
    getSourceFile: (name, target, ...more) =>
      name === path
        ? ts.createSourceFile(name, PROBE, target)
        : files.getSourceFile(name, target, ...more),
  }
  const program = ts.createProgram([path], options, host)
  const checker = program.getTypeChecker()
  const file = program.getSourceFile(path)
  const module = file && checker.getSymbolAtLocation(file)
  if (module === undefined) throw new Error('The probe cannot be read')
  const [selected, inserted] = ['Selected', 'Inserted'].map((name) => {
    const symbol = checker.getExportsOfModule(module).find((each) => each.name === name)
    if (symbol === undefined) throw new Error(`The probe has no ${name}`)
    return checker.getDeclaredTypeOfSymbol(symbol)
  })
  const columns = new Map<string, Column>()
  for (const table of selected?.getProperties() ?? []) {
    const written = inserted?.getProperty(table.name)
    const insertable = written && checker.getTypeOfSymbol(written)
    for (const column of checker.getTypeOfSymbol(table).getProperties()) {
      const isOptional =
        (insertable?.getProperty(column.name)?.flags ?? 0) & ts.SymbolFlags.Optional
      columns.set(`${table.name}.${column.name}`, {
        ...describeType(checker, checker.getTypeOfSymbol(column)),
        isOptional: isOptional !== 0,
      })
    }
  }
  return columns
}

function describeType(checker: ts.TypeChecker, type: ts.Type): Omit<Column, 'isOptional'> {
  const parts = type.isUnion() ? type.types : [type]
  const present = parts.filter((part) => (part.flags & ts.TypeFlags.Null) === 0)
  const words = present.flatMap((part) => (part.isStringLiteral() ? [part.value] : []))
  const names = present.map((part) => {
    const [element] = checker.isArrayType(part)
      ? checker.getTypeArguments(part as ts.TypeReference)
      : []
    const isListOfWords =
      element?.isUnion() === true && element.types.every((each) => each.isStringLiteral())
    if (isListOfWords) return 'string[]'
    // The id of a kind of record is a text with a brand.
    if (part.isIntersection()) return checker.typeToString(part.types[0] ?? part)
    return checker
      .typeToString(checker.getBaseTypeOfLiteralType(part))
      .replace(/^Buffer<.*>$/, 'Buffer')
  })
  return {
    type: [...new Set(names)].sort().join(' | '),
    // What may be anything may be null.
    isNullable: present.length < parts.length || names.includes('unknown'),
    words: words.length === 0 ? null : words.sort(),
  }
}
