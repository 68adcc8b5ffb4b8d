// Reads the Windows registry by keys. Windows does not tell capital letters apart in the names of values,
// and writes some of its own in small ones; osquery compares them as they are written.
import { quoteSql } from './verdict-sql.ts'

/** The control set that Windows runs with. */
export const CONTROL_SET = String.raw`HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet`

/** The settings of the local security authority; Windows always has some here. */
export const LSA_KEY = String.raw`${CONTROL_SET}\Control\Lsa`

/** SELECT of the data of one value of a key, however its name is written. */
export function registryDataSql(key: string, name: string): string {
  return `SELECT data FROM registry WHERE key = ${quoteSql(key)} AND lower(name) = ${quoteSql(name.toLowerCase())} LIMIT 1`
}

/**
 * SELECT of how many values and subkeys a key has. Of a key that every Windows has, none means that the
 * registry could not be read: a value that is not there then means nothing.
 */
export function registryEntriesSql(key: string): string {
  return `SELECT COUNT(*) FROM registry WHERE key = ${quoteSql(key)}`
}
