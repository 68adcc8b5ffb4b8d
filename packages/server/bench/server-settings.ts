import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import { prepareClusterHome } from '@heliograph/embedded-postgres'

/** Has the database note when each transaction was committed. */
export const COMMIT_TIMESTAMPS_SETTING = 'track_commit_timestamp = on'

/** Gives the embedded database of this data folder settings of its configuration file, from its next start on. */
export async function appendServerSettings(
  dataDir: string,
  lines: readonly string[],
): Promise<void> {
  const cluster = join(await prepareClusterHome(dataDir), 'cluster')
  await appendFile(join(cluster, 'postgresql.auto.conf'), `\n${lines.join('\n')}\n`)
}
