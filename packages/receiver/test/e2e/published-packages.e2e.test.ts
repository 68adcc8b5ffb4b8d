import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../../../..')
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc')
const PACKAGES = ['ssf', 'receiver'] as const

const run = promisify(execFile)

let folder: string
let consumer: string
const filesOf: Partial<Record<(typeof PACKAGES)[number], readonly string[]>> = {}

/** Builds copies of the packages, packs them, and installs the archives into a consumer. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'published-packages-'))
  consumer = join(folder, 'consumer')
  const scope = join(consumer, 'node_modules/@heliograph')
  await mkdir(scope, { recursive: true })
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  await cp(join(ROOT, 'tsconfig.base.json'), join(folder, 'tsconfig.base.json'))
  for (const name of PACKAGES) {
    const from = join(ROOT, 'packages', name)
    const to = join(folder, 'packages', name)
    await cp(from, to, { recursive: true, filter: (path) => !/\/(dist|node_modules)$/.test(path) })
  }
  await run(process.execPath, [
    TSC,
    '-b',
    '--noCheck',
    join(folder, 'packages/receiver/tsconfig.build.json'),
  ])
  for (const name of PACKAGES) {
    const cwd = join(folder, 'packages', name)
    const npm = ['pack', '--json', '--offline', '--ignore-scripts']
    const { stdout } = await run('npm', [...npm, '--pack-destination', folder], { cwd })
    const { filename, files } = firstPack(JSON.parse(stdout) as PackReport)
    filesOf[name] = files.map(({ path }) => path)
    await mkdir(join(scope, name))
    const archive = join(folder, filename.replace('@', '').replace('/', '-'))
    await run('tar', ['-xzf', archive, '-C', join(scope, name), '--strip-components=1'])
  }
  for (const dependency of ['zod', 'jose', 'undici-types', '@types/node']) {
    await mkdir(join(consumer, 'node_modules/@types'), { recursive: true })
    await symlink(
      join(ROOT, 'node_modules', dependency),
      join(consumer, 'node_modules', dependency),
    )
  }
  await writeFile(join(consumer, 'package.json'), '{"type":"module","private":true}')
})

afterAll(() => rm(folder, { recursive: true }))

interface Pack {
  readonly filename: string
  readonly files: readonly { readonly path: string }[]
}

/** An array of packs, or an object of them by the name of the package. */
type PackReport = readonly Pack[] | Readonly<Record<string, Pack>>

function firstPack(report: PackReport): Pack {
  const [pack] = Object.values(report)
  if (pack === undefined) throw new Error('npm packed nothing')
  return pack
}

async function manifestOf(name: string): Promise<Manifest> {
  const path = join(consumer, 'node_modules/@heliograph', name, 'package.json')
  return JSON.parse(await readFile(path, 'utf8')) as Manifest
}

interface Manifest {
  readonly exports: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly sideEffects: unknown
}

/** Checks sources as a consumer's compiler does. */
async function compile(
  files: Readonly<Record<string, string>>,
  options: Readonly<Record<string, unknown>>,
): Promise<void> {
  const project = await mkdtemp(join(consumer, 'project-'))
  // The libraries of the compiler itself are not looked at.
  const common = { strict: true, noEmit: true, target: 'ES2023', skipDefaultLibCheck: true }
  const compilerOptions = { ...common, ...options }
  await writeFile(
    join(project, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, include: ['*'] }),
  )
  for (const [name, text] of Object.entries(files)) await writeFile(join(project, name), text)
  await run(process.execPath, [TSC, '-p', project]).catch((error: unknown) => {
    const output = error instanceof Error && 'stdout' in error ? String(error.stdout) : ''
    throw new Error(output, { cause: error })
  })
}

/** Signs a SET, pushes it twice and once with another signature, and says what came of it. */
const PUSH_SCRIPT = `
  import { CompactSign, exportJWK, generateKeyPair } from 'jose'
  import { buildDeviceComplianceChange, buildSetClaims, DEVICE_COMPLIANCE_CHANGE } from '@heliograph/ssf'
  import { createComplianceState, createPushHandler, createSetVerifier } from '@heliograph/receiver'
  import { createFileComplianceStore, createFileJtiStore } from '@heliograph/receiver/node'
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const subject = { format: 'opaque', id: 'd1' }
  const claims = buildSetClaims({
    iss: 'i', aud: 'a', jti: 'j', issuedAtMs: Date.now(), layout: 'v1.0', subject,
    event: {
      type: DEVICE_COMPLIANCE_CHANGE,
      payload: buildDeviceComplianceChange({ previous_status: 'not-compliant', current_status: 'compliant' }),
    },
  })
  const token = await new CompactSign(new TextEncoder().encode(JSON.stringify(claims)))
    .setProtectedHeader({ alg: 'ES256', kid: 'k', typ: 'secevent+jwt' })
    .sign(privateKey)
  const path = process.pid + '.jsonl'
  const store = await createFileComplianceStore({ path: 'compliance-' + path })
  const seen = await createFileJtiStore({ path: 'seen-' + path })
  const state = createComplianceState({ store })
  const keys = { jwks: { keys: [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'ES256' }] } }
  let handled = 0
  const handler = createPushHandler({
    verifier: createSetVerifier({ issuer: 'i', audience: 'a', keys }),
    seen,
    onEvent: async (set) => { handled += 1; await state.apply(set) },
  })
  const answers = []
  for (const body of [token, token, token.slice(0, -6) + 'AAAAAA']) {
    const headers = { 'content-type': 'application/secevent+jwt' }
    answers.push((await handler(new Request('http://x/', { method: 'POST', headers, body }))).status)
  }
  console.log(JSON.stringify({ answers, handled, status: await state.statusOf(subject) }))
  await Promise.all([store.close(), seen.close()])
`

const NODE = { module: 'nodenext', moduleResolution: 'nodenext', types: ['node'] }

describe.each(PACKAGES)('the package %s', (name) => {
  test('holds what it is built from and built to, its documents, and nothing else', () => {
    const files = filesOf[name] ?? []
    for (const path of ['package.json', 'README.md', 'LICENSE', 'src/index.ts']) {
      expect(files).toContain(path)
    }
    for (const path of files) {
      expect(path).toMatch(
        /^(package\.json|README\.md|LICENSE|src\/[\w/-]+(\.d)?\.ts|examples\/[\w-]+\.ts|vectors\/[\w.-]+\.json|dist\/[\w/-]+(\.js|\.d\.ts)(\.map)?)$/,
      )
    }
    for (const path of files.filter((file) => /^src\/.*(?<!\.d)\.ts$/.test(file))) {
      const built = path.replace(/^src/, 'dist').replace(/\.ts$/, '')
      expect(files).toContain(`${built}.js`)
      expect(files).toContain(`${built}.d.ts`)
    }
  })

  test('holds what its README names as a link or a folder', async () => {
    const files = filesOf[name] ?? []
    const readme = await readFile(join(ROOT, 'packages', name, 'README.md'), 'utf8')
    const links = [...readme.matchAll(/\]\(((?!https:)[^)]+)\)|^`([\w-]+\/)`/gm)]
    expect(links.length).toBeGreaterThan(0)
    for (const [, link, folder] of links) {
      expect(files.some((file) => file.startsWith(folder ?? link ?? ''))).toBe(true)
    }
  })

  test('exports files that it holds, has no side effects, and needs what it says', async () => {
    const { exports, dependencies, sideEffects } = await manifestOf(name)
    const targets = Object.values(exports).flatMap((conditions) => Object.values(conditions))
    for (const target of targets) expect(filesOf[name]).toContain(target.replace('./', ''))
    expect(sideEffects).toBe(false)
    const imported = new Set<string>()
    for (const path of (filesOf[name] ?? []).filter((file) => /^dist\/.*\.js$/.test(file))) {
      const text = await readFile(join(consumer, 'node_modules/@heliograph', name, path), 'utf8')
      for (const [, from = ''] of text.matchAll(/\bfrom '([^'.][^']*)'/g)) {
        if (!from.startsWith('node:')) imported.add(from)
      }
    }
    expect([...imported].toSorted()).toEqual(Object.keys(dependencies).toSorted())
  })
})

describe('a consumer', () => {
  test.each([
    ['of this test', process.execPath],
    ['of the machine', 'node'],
  ])('imports every entry under the plain Node.js %s', async (_title, node) => {
    const names: string[] = []
    for (const name of PACKAGES) {
      const { exports } = await manifestOf(name)
      names.push(...Object.keys(exports).map((path) => `@heliograph/${name}${path.slice(1)}`))
    }
    expect(names).toContain('@heliograph/receiver/node')
    const script = `${names
      .map((name, index) => `import * as m${index} from '${name}'`)
      .join(
        '\n',
      )}\nconsole.log([${names.map((_, index) => `Object.keys(m${index}).length`).join()}].join())`
    await writeFile(join(consumer, 'imports.mjs'), script)
    const { stdout } = await run(node, ['imports.mjs'], { cwd: consumer })
    expect(
      stdout
        .trim()
        .split(',')
        .map(Number)
        .every((count) => count > 1),
    ).toBe(true)
  })

  test.each([
    ['of this test', process.execPath],
    ['of the machine', 'node'],
  ])('receives a push under the plain Node.js %s', async (_title, node) => {
    await writeFile(join(consumer, 'push.mjs'), PUSH_SCRIPT)
    const { stdout } = await run(node, ['push.mjs'], { cwd: consumer })
    expect(JSON.parse(stdout)).toEqual({
      answers: [202, 202, 400],
      handled: 1,
      status: 'compliant',
    })
  })

  test('loads every entry from CommonJS under the plain Node.js of the machine', async (context) => {
    const feature = await run('node', ['-p', 'process.features.require_module'])
    // Node.js 20.3 to 20.18, and 22.0 to 22.11, load ES modules by import() alone.
    context.skip(feature.stdout.trim() !== 'true')
    const entries = ['ssf', 'receiver', 'receiver/node', 'receiver/cli']
    const script = entries.map((name) => `require('@heliograph/${name}')`).join()
    await writeFile(
      join(consumer, 'load.cjs'),
      `console.log([${script}].every((entry) => typeof entry === 'object'))`,
    )
    const { stdout } = await run('node', ['load.cjs'], { cwd: consumer })
    expect(stdout.trim()).toBe('true')
  })

  const source = `
    import { createPushHandler, createSetVerifier, type VerifiedSet } from '@heliograph/receiver'
    import { toNodeHandler } from '@heliograph/receiver/node'
    import { listen } from '@heliograph/receiver/cli'
    import { DEVICE_COMPLIANCE_CHANGE, type ComplianceStatus } from '@heliograph/ssf'
    const verifier = createSetVerifier({ issuer: 'i', audience: 'a', keys: { jwksUri: 'https://x' } })
    export const statusOf = ({ event }: VerifiedSet): ComplianceStatus | undefined =>
      event.isKnown && event.type === DEVICE_COMPLIANCE_CHANGE ? event.payload.current_status : undefined
    export const handler = toNodeHandler(createPushHandler({ verifier, onEvent: (set) => void statusOf(set) }))
    // @ts-expect-error A handler needs a verifier.
    createPushHandler({ onEvent: () => undefined })
    export { listen }
  `

  test('has its types with module resolution nodenext, and the READMEs have snippets that compile', async () => {
    const snippets = await readSnippets()
    const files = { 'consumer.ts': source, ...snippets }
    await compile(files, { ...NODE, exactOptionalPropertyTypes: true })
  })

  test('has its types with module resolution bundler', async () => {
    const bundler = { module: 'esnext', moduleResolution: 'bundler', types: ['node'] }
    const options = { ...bundler, skipLibCheck: true, exactOptionalPropertyTypes: true }
    await compile({ 'consumer.ts': source }, options)
  })

  test('has them without the types of Node.js, as in runtimes with Web APIs', async () => {
    const web = `
      import { createPushHandler, createSetVerifier, createStreamClient } from '@heliograph/receiver'
      export const client = createStreamClient({ issuer: 'https://x', authorization: 'Bearer x' })
      const verifier = createSetVerifier({ issuer: 'i', audience: 'a', keys: { jwksUri: 'https://x' } })
      const handler = createPushHandler({ verifier, onEvent: () => undefined })
      export default { fetch: (request: Request): Promise<Response> => handler(request) }
    `
    await compile(
      { 'worker.ts': web },
      { module: 'esnext', moduleResolution: 'bundler', lib: ['ES2024', 'WebWorker'], types: [] },
    )
  })

  test('of the part for runtimes with Web APIs needs no global and no module of Node.js', async () => {
    const web = `export * from '@heliograph/receiver'\nexport * from '@heliograph/ssf'\n`
    // With this condition the compiler reads the sources, and names whatever is not of the Web.
    await compile(
      { 'worker.ts': web },
      {
        module: 'nodenext',
        moduleResolution: 'nodenext',
        target: 'ES2024',
        lib: ['ES2024', 'WebWorker', 'WebWorker.AsyncIterable'],
        types: [],
        customConditions: ['source'],
        allowImportingTsExtensions: true,
        skipLibCheck: true,
      },
    )
  })
})

/** By the name of the file that each becomes. */
async function readSnippets(): Promise<Record<string, string>> {
  const files: Record<string, string> = {}
  for (const name of PACKAGES) {
    const readme = await readFile(join(ROOT, 'packages', name, 'README.md'), 'utf8')
    const snippets = [...readme.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, text = '']) => text)
    expect(snippets.length).toBeGreaterThan(1)
    for (const [index, text] of snippets.entries()) {
      files[`${name}-${index}.ts`] = `${text}\nexport {}\n`
    }
  }
  return files
}
