import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { DatabaseStartError } from './database-start-error.ts'

/** The account that the server runs as, in place of root. */
export interface ServerAccount {
  readonly uid: number
  readonly gid: number
}

/**
 * Numbers that no distribution gives to anybody (systemd, "Users, Groups, UIDs and GIDs"), and below
 * 65,536, where containers end.
 */
const FIRST_FREE_UID = 60_706
const FREE_UIDS = 478

/** Whether this process may, and so must, give up its privileges for the server. */
export function isRoot(): boolean {
  return process.getuid?.() === 0
}

/**
 * The account for the server of a cluster, or undefined where it is that of this process. An existing
 * cluster keeps its owner; a new one gets a number of its own, so that no other program shares it.
 */
export async function chooseServerAccount(cluster: string): Promise<ServerAccount | undefined> {
  if (!isRoot()) return undefined
  const owner = await stat(cluster).catch(() => undefined)
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid }
  const hash = createHash('sha256').update(cluster).digest().readUInt32BE(0)
  const uid = FIRST_FREE_UID + (hash % FREE_UIDS)
  return { uid, gid: uid }
}

/** An unprivileged account with a name, which `initdb` insists on although the server does not. */
export async function findNamedAccount(): Promise<ServerAccount> {
  const accounts = (await readFile('/etc/passwd', 'utf8'))
    .split('\n')
    .map((line) => line.split(':'))
  for (const wanted of ['nobody', 'daemon', 'bin']) {
    const account = accounts.find(([name]) => name === wanted)
    const uid = Number(account?.[2])
    const gid = Number(account?.[3])
    if (Number.isInteger(uid) && Number.isInteger(gid) && uid !== 0) return { uid, gid }
  }
  throw new DatabaseStartError(
    'As root, the embedded database needs an account named nobody, daemon or bin in /etc/passwd. Run the service as an ordinary user, or set DATABASE_URL.',
  )
}

/** The number as `chown` takes it; macOS writes the account nobody as -2. */
export function toUnsignedId(id: number): number {
  return id >>> 0
}
