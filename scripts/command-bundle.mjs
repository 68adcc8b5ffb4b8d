// The command line of a checkout as one bundle: a command then loads a few files instead of a thousand.
// Made from the sources when they have changed; where it cannot be made, the sources themselves run.
// Runs on Node 20.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const script = fileURLToPath(import.meta.url)
const root = dirname(dirname(script))
const server = join(root, 'packages', 'server')
const bundles = join(server, 'node_modules', '.cache', 'heliograph')
const SOURCES = ['ssf', 'receiver', 'embedded-postgres', 'simulator', 'server'].map((name) =>
  join(root, 'packages', name, 'src'),
)
/** Packages that are many small modules. The others are loaded as they are installed. */
const BUNDLED = /^(@heliograph\/.+|commander|jose|kysely|ulid|zod)(\/|$)/

/** The main file of the bundle of the present sources, made if need be; undefined if it cannot be. */
export async function findCommandBundle() {
  const folder = join(bundles, fingerprintSources())
  const main = join(folder, 'main.mjs')
  if (existsSync(main)) return main
  try {
    await bundleInto(folder)
  } catch {
    // Without the tools of development, or where nothing may be written.
  }
  return existsSync(main) ? main : undefined
}

function fingerprintSources() {
  const hash = createHash('sha256').update(root)
  const add = (path) => {
    const { mtimeMs, size } = statSync(path)
    hash.update(`${path}\0${mtimeMs}\0${size}\n`)
  }
  for (const path of [script, join(root, 'package-lock.json')]) add(path)
  for (const folder of SOURCES) {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (entry.isFile() && !entry.name.endsWith('.test.ts'))
        add(join(entry.parentPath, entry.name))
    }
  }
  return hash.digest('hex').slice(0, 16)
}

/** Several processes may make it at once: each has a folder of its own until it is whole. */
async function bundleInto(folder) {
  const { rolldown } = await import('rolldown')
  const made = `${folder}.${process.pid}`
  const bundle = await rolldown({
    input: join(server, 'src', 'main.ts'),
    platform: 'node',
    resolve: { conditionNames: ['source', 'node', 'import'] },
    external: (id) => /^[@a-z]/.test(id) && !BUNDLED.test(id),
    plugins: [{ name: 'module-places', transform: keepPlace }],
    logLevel: 'silent',
  })
  try {
    // Named so that Node.js need not find out of what kind they are.
    const names = { entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' }
    await bundle.write({ dir: made, format: 'esm', ...names })
    for (const old of readdirSync(bundles)) {
      if (/^[0-9a-f]{16}$/.test(old)) rmSync(join(bundles, old), { recursive: true, force: true })
    }
    renameSync(made, folder)
  } finally {
    await bundle.close()
    rmSync(made, { recursive: true, force: true })
  }
}

/** A module still finds the files beside its source. */
function keepPlace(code, id) {
  if (!SOURCES.some((folder) => id.startsWith(folder)) || !code.includes('import.meta.'))
    return null
  return code
    .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
    .replaceAll('import.meta.dirname', JSON.stringify(dirname(id)))
}
