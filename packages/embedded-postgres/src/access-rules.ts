import { chown, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { randomName } from './random-name.ts'
import type { ServerAccount } from './server-account.ts'

/** Who may connect is decided by the folder of the socket, which nobody else can enter. */
const RULES = `# Written at every start of the service.
local all all trust
local replication all trust
host all all all reject
host replication all all reject
`

/** The file of the rules, to which the server is held whatever its other files say. */
export function accessRulesPath(cluster: string): string {
  return join(cluster, 'pg_hba.conf')
}

/**
 * Writes who may connect to the cluster: everybody who reaches its socket, and nobody through the network, also
 * should somebody start the cluster by hand. For every start, because older clusters let the network in.
 */
export async function writeAccessRules(
  cluster: string,
  account: ServerAccount | undefined,
): Promise<void> {
  const path = accessRulesPath(cluster)
  const unfinished = `${path}.${randomName(6)}`
  await writeFile(unfinished, RULES, { mode: 0o600, flag: 'wx' })
  if (account !== undefined) await chown(unfinished, account.uid, account.gid)
  await rename(unfinished, path)
}
