/*
 * What a prepared database is prepared for, as a short text: the files that say what is prepared, and the
 * master keys. Reads those files instead of loading them, which takes a command longer.
 */
import { createHmac } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { deriveKey, type MasterKeys } from '../platform/secrets/master-key.ts'

/** Of the program: what the schema, the built-in checks and the views of reporting are made from. */
const FOLDERS = ['schema/migrations', 'posture/checks/catalogue', 'posture/reporting'].map(
  (folder) => join(import.meta.dirname, '..', folder),
)

/**
 * The fingerprint of this program under these master keys. Keyed with the current master key: a process
 * with another one finds another fingerprint, and none reveals the key.
 */
export function fingerprintPreparation({ current, previous }: MasterKeys): string {
  const hash = createHmac('sha256', deriveKey(current, 'fingerprint of a prepared database'))
  for (const { id } of previous) hash.update(id)
  for (const folder of FOLDERS) {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
    const paths = entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
    for (const path of paths.sort()) {
      const content = readFileSync(path)
      hash.update(`\n${path.slice(folder.length)} ${content.length}\n`).update(content)
    }
  }
  return hash.digest('hex')
}
