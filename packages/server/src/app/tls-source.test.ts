import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadConfig } from './config/load-config.ts'
import { systemClock } from '../platform/clock.ts'
import { openTlsSource } from './tls-source.ts'

test('the data folder that a first certificate makes lets the user of the database pass', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'heliograph-tls-'))
  const dataDir = join(folder, 'data')
  const settings = { HELIOGRAPH_DATA_DIR: dataDir, HELIOGRAPH_TLS_CERT: 'self-signed' }
  await openTlsSource(loadConfig({}, settings), systemClock)
  const modes = await Promise.all([dataDir, join(dataDir, 'tls')].map((path) => stat(path)))
  expect(modes.map(({ mode }) => mode & 0o777)).toEqual([0o711, 0o700])
  await rm(folder, { recursive: true })
})
