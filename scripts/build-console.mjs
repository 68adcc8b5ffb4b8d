// Builds the admin console into packages/server/console, once: nothing is done while its sources, the API's
// document and the locked dependencies are as they were at the last build.
//   --client  writes only the client of the API, which type checks need
//   --size    also fails when the first page needs more than its budget of compressed JavaScript
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

/** Compressed JavaScript that the first page may need, in bytes. */
const INITIAL_BYTES_MAX = 300_000

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const sources = join(root, 'packages', 'console')
const built = join(root, 'packages', 'server', 'console')
const generated = join(sources, 'src', 'api', 'generated')
const documentPath = join(root, 'packages', 'server', 'openapi', 'openapi.json')
const tablesPath = join(root, 'packages/server/src/posture/osquery/tables/osquery-tables.json')
const stamp = join(built, '.built-from')
const clientStamp = join(generated, '.generated-from')

const options = new Set(process.argv.slice(2))
generateClient()
if (!options.has('--client')) {
  build()
  if (options.has('--size')) checkSize()
}

/** The client, its queries and the searchable fields of each list, from the OpenAPI document; osquery's tables. */
function generateClient() {
  const program = fileURLToPath(import.meta.url)
  const state = hashOf([documentPath, tablesPath, join(sources, 'openapi-ts.config.ts'), program])
  if (readOptional(clientStamp) === state) return
  run(join(root, 'node_modules', '@hey-api', 'openapi-ts', 'bin', 'run.js'), [], sources)
  writeFileSync(join(generated, 'search-fields.gen.ts'), renderSearchFields())
  writeFileSync(join(generated, 'osquery-tables.gen.ts'), renderOsqueryTables())
  writeFileSync(clientStamp, state)
}

/** What the SQL editor completes: a line per table, `kit/osquery-tables.ts` reads it. */
function renderOsqueryTables() {
  const { tables } = JSON.parse(readFileSync(tablesPath, 'utf8'))
  const initials = (platforms) => platforms.map(([first]) => first).join('')
  const lines = Object.entries(tables).map(([name, { platforms, columns }]) => {
    const fields = Object.entries(columns)
      .filter(([, { hidden }]) => hidden !== true)
      .map(([column, { type, platforms: own, required }]) => {
        const isEverywhere = initials(own) === initials(platforms)
        return `${column}:${type.replace('unsigned ', '')[0]}${required === true ? '!' : ''}${isEverywhere ? '' : `:${initials(own)}`}`
      })
    return [name, initials(platforms), ...fields].join(' ')
  })
  return `// This file is made from the facts about osquery's tables.

/** The tables, one a line: name, platforms, and columns as \`name:type\`, \`!\` after what a query must narrow. */
export const OSQUERY_TABLES_TEXT = ${JSON.stringify(lines.join('\n'))}
`
}

function renderSearchFields() {
  const { paths } = JSON.parse(readFileSync(documentPath, 'utf8'))
  const fields = Object.entries(paths).flatMap(([path, { get }]) => {
    const search = get?.parameters?.find((parameter) => parameter['x-search-fields'] !== undefined)
    return search === undefined ? [] : [[path, search['x-search-fields']]]
  })
  const ordered = Object.keys(paths).filter(
    (path) =>
      !path.startsWith('/exports') &&
      paths[path].get?.parameters?.some(({ name }) => name === 'order'),
  )
  return `// This file is made from the OpenAPI document.

export interface SearchField {
  readonly name: string
  readonly type: 'text' | 'id' | 'timestamp' | 'boolean' | 'enum' | 'integer'
  readonly operators: readonly string[]
  readonly values?: readonly string[]
  readonly takes_list?: boolean
}

/** What each list can be searched by, by the path of the list. */
export const SEARCH_FIELDS = ${JSON.stringify(Object.fromEntries(fields), null, 2)} satisfies Record<
  string,
  readonly SearchField[]
>

/** The paths of the lists that can be had in either order. */
export const ORDERED_LISTS: ReadonlySet<string> = new Set(${JSON.stringify(ordered)})
`
}

function build() {
  const files = globSync('{src,public}/**/*.*', { cwd: sources })
    .map((path) => join(sources, path))
    .filter((path) => !path.startsWith(generated))
  const state = hashOf([
    ...files.sort(),
    ...['index.html', 'vite.config.ts', 'package.json'].map((name) => join(sources, name)),
    documentPath,
    tablesPath,
  ])
  if (readOptional(stamp) === state) return
  process.stderr.write('Building the console ...\n')
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js')
  run(vite, ['build', '--logLevel', 'warn'], sources)
  for (const path of globSync('**/*.{js,css,svg,html}', { cwd: built })) compress(join(built, path))
  mkdirSync(built, { recursive: true })
  writeFileSync(stamp, state)
}

/** Beside each file, so that no request costs the work again. `index.html` is completed per request. */
function compress(path) {
  if (path.endsWith('index.html')) return
  const content = readFileSync(path)
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }
  writeFileSync(`${path}.br`, brotliCompressSync(content, quality))
  writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }))
}

/** The scripts that the page names, compressed with gzip: what every browser loads before anything shows. */
function checkSize() {
  const page = readFileSync(join(built, 'index.html'), 'utf8')
  const names = [...page.matchAll(/(?:src|href)="\/console\/(assets\/[^"]+\.js)"/g)].map(
    ([, name]) => name,
  )
  const bytes = names.reduce((sum, name) => sum + readFileSync(join(built, `${name}.gz`)).length, 0)
  process.stdout.write(
    `The console starts with ${Math.round(bytes / 1000)} kB of JavaScript (gzip).\n`,
  )
  if (names.length === 0) throw new Error('The page of the console names no script.')
  if (bytes <= INITIAL_BYTES_MAX) return
  process.stderr.write(
    `At most ${INITIAL_BYTES_MAX / 1000} kB are allowed: load what is rare later.\n`,
  )
  process.exit(1)
}

function hashOf(paths) {
  const hash = createHash('sha256')
  for (const path of paths) hash.update(path.slice(root.length)).update(readFileSync(path))
  return hash.digest('hex')
}

function readOptional(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}

function run(program, args, cwd) {
  const { status } = spawnSync(process.execPath, [program, ...args], {
    cwd,
    stdio: ['ignore', 2, 2],
  })
  if (status !== 0) process.exit(status ?? 1)
}
