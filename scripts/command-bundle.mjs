// The command line of a checkout as one bundle: a command, or the service, then loads a few files instead of a
// thousand. Made from the sources when one of them has changed; where it cannot be made, the sources themselves run.
// CommonJS and with the driver of the database: half the CPU time of loading the same as modules. Runs on Node 20.
import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const script = fileURLToPath(import.meta.url)
const root = dirname(dirname(script))
const server = join(root, 'packages', 'server')
const bundles = join(server, 'node_modules', '.cache', 'heliograph')
/** Says which bundle is the present one, and which files it was made from as they were then. */
const present = join(bundles, 'present.json')
const SOURCES = ['ssf', 'receiver', 'embedded-postgres', 'simulator', 'server'].map((name) =>
  join(root, 'packages', name, 'src'),
)
/**
 * What the threads that sign run: from its source each would load a compiler of TypeScript, a quarter of a second of
 * CPU time.
 */
const THREAD = 'signing-worker'
const threadSource = join(server, 'src', 'signals', 'signing', `${THREAD}.ts`)
const THREAD_ADDRESS = 'new URL(WORKER_FILE, import.meta.url)'
const KEPT_MS = 60 * 60 * 1_000
const USER_MARK = 'used-by-'
/**
 * Packages that are many small modules, with what they need, and what the bundler itself writes into a module. The
 * others are loaded as they are installed: what has binaries, threads or files of its own, and what is asked for when
 * it is needed.
 */
const BUNDLED = new RegExp(
  `^(${`
    @fastify/(accept-negotiator|error|send|static) @heliograph/.+ @koa/.+ @lukeed/ms @opentelemetry/api @oxc-project/runtime @peculiar/.+
    @prometheus-io/client @simplewebauthn/.+ accepts asn1js avvio commander content-disposition cookies debug delegates depd destroy ee-first
    encodeurl entities escape-html eta fast-[a-z-]+ fastify fastify-plugin fastq find-my-way fresh glob http-assert http-errors inherits ipaddr\\.js
    jose keygrip koa koa-[a-z]+ kysely linkify-it markdown-it mdurl mime mime-db mime-types negotiator oauth4webapi oidc-provider
    on-finished openid-client otpauth parseurl pg pg-[a-z-]+ pgpass postgres-[a-z]+ process-warning punycode\\.js pvtsutils pvutils quick-lru
    raw-body reflect-metadata ret reusify rfdc safe-regex2 secure-json-parse semver set-cookie-parser setprototypeof split2 statuses toidentifier
    tslib tsyringe type-is uc\\.micro ulid undici vary xtend zod
  `
    .trim()
    .replaceAll(/\s+/g, '|')})(/|$)`,
)

/** The main file of the bundle of the present sources, made if need be; undefined if it cannot be. */
export async function findCommandBundle() {
  const made = findFresh()
  if (made !== undefined) return made
  try {
    await makeBundle()
  } catch {
    // Without the tools of development, or where nothing may be written.
  }
  return findFresh()
}

/** A file that was added matters to the bundle only with one of its own that was changed. */
function findFresh() {
  try {
    const { folder, files } = JSON.parse(readFileSync(present, 'utf8'))
    const main = join(bundles, folder, 'main.cjs')
    return files.every(isUnchanged) && existsSync(main) ? main : undefined
  } catch {
    return undefined
  }
}

/**
 * Keeps the folder of a bundle for as long as this process runs: a service loads some of its files long after its
 * start. False where nothing may be written.
 */
export function keepBundle(main) {
  const mark = join(dirname(main), `${USER_MARK}${process.pid}`)
  try {
    writeFileSync(mark, '')
  } catch {
    return false
  }
  process.on('exit', () => rmSync(mark, { force: true }))
  return true
}

/** Whether a process that runs has said that it keeps the folder. */
export function isKept(folder) {
  return readdirSync(folder).some(
    (name) => name.startsWith(USER_MARK) && isRunning(Number(name.slice(USER_MARK.length))),
  )
}

function isRunning(pid) {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error.code === 'EPERM'
  }
}

function isUnchanged([path, mtimeMs, size]) {
  const found = statSync(path)
  return found.mtimeMs === mtimeMs && found.size === size
}

/**
 * Several processes may make one at once: each has a folder of its own, which stays for as long as a command of it may
 * load another file.
 */
async function makeBundle() {
  const { rolldown } = await import('rolldown')
  const folder = `${Date.now().toString(36)}-${process.pid}`
  const inputs = new Map()
  const remember = (path) => inputs.set(path, statSync(path))
  for (const path of [script, join(root, 'package-lock.json')]) remember(path)
  const bundle = await rolldown({
    input: { main: join(server, 'src', 'main.ts'), [THREAD]: threadSource },
    platform: 'node',
    resolve: { conditionNames: ['source', 'node'] },
    external: (id) => /^[@a-z]/.test(id) && !BUNDLED.test(id),
    plugins: [
      {
        name: 'sources',
        load: (id) => {
          if (isSource(id)) remember(id)
          return null
        },
        transform: keepPlace,
      },
    ],
    logLevel: 'silent',
  })
  try {
    const names = { entryFileNames: '[name].cjs', chunkFileNames: '[name]-[hash].cjs' }
    await bundle.write({ dir: join(bundles, folder), format: 'cjs', ...names })
  } finally {
    await bundle.close()
  }
  const files = [...inputs].map(([path, { mtimeMs, size }]) => [path, mtimeMs, size])
  const unfinished = `${present}.${process.pid}`
  writeFileSync(unfinished, JSON.stringify({ folder, files }))
  renameSync(unfinished, present)
  for (const old of readdirSync(bundles, { withFileTypes: true })) {
    if (
      old.isDirectory() &&
      old.name !== folder &&
      isOld(old.name) &&
      !isKept(join(bundles, old.name))
    )
      rmSync(join(bundles, old.name), { recursive: true, force: true })
  }
}

/** The name of a folder begins with the time at which it was made. */
function isOld(folder) {
  return Date.now() - parseInt(folder, 36) > KEPT_MS
}

function isSource(id) {
  return SOURCES.some((folder) => id.startsWith(folder + sep))
}

/** A module still finds the files beside its source, and a thread that of the bundle. */
function keepPlace(code, id) {
  if (!isSource(id) || !code.includes('import.meta.')) return null
  return code
    .replaceAll(THREAD_ADDRESS, `require('node:url').pathToFileURL(__dirname + '/${THREAD}.cjs')`)
    .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
    .replaceAll('import.meta.dirname', JSON.stringify(dirname(id)))
}
