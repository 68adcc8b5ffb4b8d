import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorCodeOf } from '../platform/error-code-of.ts'
import { MigrationError } from './migration-error.ts'

/** One step of the schema's history. */
export interface Migration {
  readonly version: number
  /** The file name without its ending, `0001_foundation`. */
  readonly name: string
  readonly sql: string
  /** SHA-256 of the text in hex, the same whichever line endings a checkout has. */
  readonly checksum: string
}

const FILE_NAME = /^(\d{4})_[a-z0-9_]+\.sql$/

/**
 * Reads the migrations of a folder in order. Throws `MigrationError` when a file has another kind of
 * name or a number is missing or used twice; a folder that is empty or missing has none. Waits for each file: to read
 * so many small ones beside each other takes three times the CPU time.
 */
export function readMigrations(folder: string): Migration[] {
  const migrations = listFileNames(folder).map((name) => readMigration(folder, name))
  for (const [index, migration] of migrations.entries()) {
    if (migration.version === index + 1) continue
    throw new MigrationError(
      `Migrations are numbered from 0001 without gaps; ${migration.name} stands where number ${index + 1} belongs.`,
    )
  }
  return migrations
}

function listFileNames(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.sql'))
      .sort()
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return []
    throw error
  }
}

function readMigration(folder: string, fileName: string): Migration {
  const number = FILE_NAME.exec(fileName)?.[1]
  if (number === undefined) {
    throw new MigrationError(`${fileName} is not named like a migration, 0001_first_tables.sql.`)
  }
  const sql = readFileSync(join(folder, fileName), 'utf8').replaceAll('\r\n', '\n')
  return {
    version: Number(number),
    name: fileName.slice(0, -'.sql'.length),
    sql,
    checksum: createHash('sha256').update(sql).digest('hex'),
  }
}
