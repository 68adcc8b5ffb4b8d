import { makeFolder } from '@heliograph/embedded-postgres'

/**
 * Creates the data folder when it is missing. Others may pass through it and list nothing: as root the
 * database runs as another user, whose files are inside. What is secret in it is closed by itself.
 */
export async function createDataFolder(dataDir: string): Promise<void> {
  await makeFolder(dataDir, 0o711)
}
