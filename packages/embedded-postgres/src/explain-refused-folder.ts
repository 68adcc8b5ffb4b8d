import { statSync, type Stats } from 'node:fs'
import { userInfo } from 'node:os'
import { DatabaseStartError } from './database-start-error.ts'

/** The user of this process as an operator knows it: its name, where it has one, and its number. */
export function describeUser(): string {
  const uid = process.getuid?.()
  try {
    const { username } = userInfo()
    return uid === undefined ? username : `${username} (${uid})`
  } catch {
    return `the user ${uid ?? 'of this process'}`
  }
}

/**
 * What to say of a data folder that the system does not let this user into: whose it is, who this user is, and what to
 * do. Other errors are answered as they are.
 */
export function explainRefusedFolder(dataDir: string, error: unknown): unknown {
  const isRefused = error instanceof Error && 'code' in error && error.code === 'EACCES'
  return isRefused ? toRefusedFolder(dataDir, error) : error
}

/** Says that this user may not use a data folder. */
export function toRefusedFolder(dataDir: string, cause: Error): DatabaseStartError {
  const owner = findFolder(dataDir)?.uid
  const isOthers = owner !== undefined && owner !== process.getuid?.()
  const advice = isOthers
    ? `It belongs to the user ${owner}: run this as that user, or choose another HELIOGRAPH_DATA_DIR.`
    : 'Let this user own the folder and pass through those above it, or choose another HELIOGRAPH_DATA_DIR.'
  return new DatabaseStartError(
    `The data folder ${dataDir} is closed to ${describeUser()}, as whom this process runs (${cause.message}). ${advice}`,
    { cause },
  )
}

function findFolder(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}
