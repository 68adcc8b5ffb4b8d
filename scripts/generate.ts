/*
 * Writes the documents that are made from the sources, each from the one place that knows its content.
 * With --check nothing is written: the command names what differs and fails. What a document says is
 * decided by its renderer beside the code that it describes.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { format, getFileInfo, resolveConfig } from 'prettier'
import { renderCatalogueMarkdown } from '../packages/server/src/checks/catalogue/catalogue-markdown.ts'
import { renderConfigurationReference } from '../packages/server/src/config/configuration-reference.ts'
import { renderErrorReference } from '../packages/server/src/platform/http/error-reference.ts'
import { renderSchema } from './render-schema.ts'

interface GeneratedDocument {
  /** From the root of the repository. */
  readonly path: string
  readonly render: () => Promise<string> | string
}

const DOCUMENTS: readonly GeneratedDocument[] = [
  { path: 'docs/checks.md', render: renderCatalogueMarkdown },
  { path: 'docs/configuration.md', render: renderConfigurationReference },
  { path: 'docs/errors.md', render: renderErrorReference },
  { path: 'packages/server/schema.sql', render: renderSchema },
]

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))

process.exitCode = await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<number> {
  if (args.some((argument) => argument !== '--check')) {
    process.stderr.write('Usage: generate [--check]\n')
    return 2
  }
  const outdated = await findOutdated()
  if (outdated.length === 0) return 0
  if (args.includes('--check')) {
    for (const { path } of outdated) process.stderr.write(`${path} is out of date\n`)
    process.stderr.write('Write the documents anew: npm run generate\n')
    return 1
  }
  for (const { path, text } of outdated) {
    await mkdir(dirname(join(ROOT, path)), { recursive: true })
    await writeFile(join(ROOT, path), text)
    process.stdout.write(`${path} written\n`)
  }
  return 0
}

/** The documents whose file is missing or says something else, with what they should say. */
async function findOutdated(): Promise<{ path: string; text: string }[]> {
  const documents = await Promise.all(
    DOCUMENTS.map(async ({ path, render }) => {
      const text = await formatAsWritten(path, await render())
      return { path, text, isCurrent: text === (await readOptional(path)) }
    }),
  )
  return documents.filter(({ isCurrent }) => !isCurrent)
}

/** Formatted as Prettier would, where Prettier looks at the file, so that its check passes. */
async function formatAsWritten(path: string, text: string): Promise<string> {
  const filepath = join(ROOT, path)
  const { ignored, inferredParser } = await getFileInfo(filepath, {
    ignorePath: join(ROOT, '.prettierignore'),
  })
  if (ignored || inferredParser === null) return text
  return format(text, { ...(await resolveConfig(filepath)), filepath })
}

async function readOptional(path: string): Promise<string | undefined> {
  try {
    return await readFile(join(ROOT, path), 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
