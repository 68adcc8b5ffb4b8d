// Copies what the build of the server needs beside its compiled sources.
import { cpSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const server = join(dirname(dirname(fileURLToPath(import.meta.url))), 'packages', 'server')
for (const folder of ['schema/migrations', 'sign-in/pages/assets']) {
  cpSync(join(server, 'src', folder), join(server, 'dist', folder), { recursive: true })
}
