import { access, constants } from 'node:fs/promises'
import { explainRefusedFolder, makeFolder } from '@heliograph/embedded-postgres'

/**
 * Creates the data folder when it is missing. Others may pass through it and list nothing: as root the
 * database runs as another user, whose files are inside. What is secret in it is closed by itself.
 *
 * @throws DatabaseStartError for a folder that this user may not use
 */
export async function createDataFolder(dataDir: string): Promise<void> {
  try {
    await makeFolder(dataDir, 0o711)
    await access(dataDir, constants.X_OK)
  } catch (error) {
    throw explainRefusedFolder(dataDir, error)
  }
}
