import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import { prepareClusterHome } from '@heliograph/embedded-postgres'

/**
 * Has the embedded database of this data folder note when each transaction was committed
 * (`track_commit_timestamp`), from its next start on.
 */
export async function keepCommitTimestamps(dataDir: string): Promise<void> {
  const cluster = join(await prepareClusterHome(dataDir), 'cluster')
  await appendFile(join(cluster, 'postgresql.auto.conf'), '\ntrack_commit_timestamp = on\n')
}
