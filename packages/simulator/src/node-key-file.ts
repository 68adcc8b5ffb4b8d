/*
 * The node keys of simulated agents between two runs, as osquery keeps its own in its database: a fleet that is
 * started again is the fleet that it was, and not one that claims to be it.
 */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

/** Node keys by host identifier. */
export interface NodeKeys {
  get(hostIdentifier: string): string | undefined
  set(hostIdentifier: string, nodeKey: string | undefined): void
}

/** Node keys that outlive the process. */
export interface NodeKeyFile extends NodeKeys {
  /** Writes what has changed. A file that cannot be written is left as it is: then the agents enroll anew. */
  close(): Promise<void>
}

const WRITE_DELAY_MS = 300
/** Only the user may read it: node keys are credentials, of simulated devices too. */
const FILE_MODE = 0o600
const FOLDER_MODE = 0o700

/** Where the node keys at a service are kept unless somebody says otherwise: a file in the home of the user. */
export function toNodeKeyPath(url: string): string {
  const { hostname, port, protocol } = new URL(url)
  const place = `${hostname}_${port === '' ? protocol.slice(0, -1) : port}`
  return join(homedir(), '.heliograph', 'simulator', `${place.replaceAll(/[^\w.-]/g, '_')}.json`)
}

/** Opens the node keys in a file; one that is missing or holds something else has none. */
export async function openNodeKeyFile(path: string): Promise<NodeKeyFile> {
  const keys = new Map(Object.entries(await readKeys(path)))
  const changed = new Map<string, string | undefined>()
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()

  async function write(): Promise<void> {
    if (changed.size === 0) return
    const due = [...changed]
    changed.clear()
    try {
      // Another fleet may have written its keys meanwhile.
      const merged = new Map<string, string | undefined>(Object.entries(await readKeys(path)))
      for (const [hostIdentifier, nodeKey] of due) merged.set(hostIdentifier, nodeKey)
      await mkdir(dirname(path), { recursive: true, mode: FOLDER_MODE })
      const draft = `${path}.${process.pid}`
      await writeFile(draft, JSON.stringify(Object.fromEntries(merged)), { mode: FILE_MODE })
      await rename(draft, path)
    } catch {
      return
    }
  }

  return {
    get: (hostIdentifier) => keys.get(hostIdentifier),
    set(hostIdentifier, nodeKey) {
      if (nodeKey === undefined) keys.delete(hostIdentifier)
      else keys.set(hostIdentifier, nodeKey)
      changed.set(hostIdentifier, nodeKey)
      timer ??= setTimeout(() => {
        timer = undefined
        writing = writing.then(write)
      }, WRITE_DELAY_MS)
    },
    async close() {
      clearTimeout(timer)
      timer = undefined
      writing = writing.then(write)
      await writing
    },
  }
}

async function readKeys(path: string): Promise<Record<string, string>> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'))
    if (typeof value !== 'object' || value === null) return {}
    const entries = Object.entries(value).filter(([, key]) => typeof key === 'string' && key !== '')
    return Object.fromEntries(entries)
  } catch {
    return {}
  }
}
