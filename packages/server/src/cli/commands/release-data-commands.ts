import { readFile } from 'node:fs/promises'
import { AppError } from '../../platform/app-error.ts'
import { listStaleSections, RELEASE_SECTIONS } from '../../posture/checks/catalogue/release-data.ts'
import {
  findReleaseDataInUse,
  importReleaseData,
  resetReleaseData,
  type ReleaseDataInUse,
} from '../../posture/checks/release-data/use-release-data.ts'
import type { CatalogueChanges } from '../../posture/checks/sync-catalogue.ts'
import { toTableLines } from '../command-io.ts'
import { commandGroup, databaseCommand } from '../command.ts'

const show = databaseCommand({
  name: 'show',
  description: 'show which release data is in use, of which day, and whether it is out of date',
  run: async ({ services: { clock, db } }) => toView(await findReleaseDataInUse(db), clock.now()),
  text: ({ origin, sections, date }) => [
    `Release data of ${date}, ${origin === 'built_in' ? 'as the service comes with it' : 'from a file'}.`,
    ...toTableLines(
      ['SECTION', 'AS OF', 'STATE', 'SOURCE'],
      sections.map(({ name, as_of: asOf, stale, source }) => [
        name,
        asOf,
        stale ? 'out of date' : 'ok',
        source,
      ]),
    ),
  ],
})

const print = databaseCommand({
  name: 'print',
  description: 'print the release data in use, as a file to be changed and imported',
  run: async ({ services: { db } }) => (await findReleaseDataInUse(db)).data,
  json: (data) => data,
  text: (data) => JSON.stringify(data, null, 2).split('\n'),
})

const importFile = databaseCommand({
  name: 'import <file>',
  description: 'use the release data of a JSON file from now on',
  run: async ({ args, change }) => {
    const content = await readJson(args.file)
    return toChangesView(await change((tx) => importReleaseData(tx, content)))
  },
  text: toLines,
})

const reset = databaseCommand({
  name: 'reset',
  description: 'use the release data that the service comes with again',
  run: async ({ change }) => toChangesView(await change(resetReleaseData)),
  text: toLines,
})

/** `heliograph release-data show|print|import|reset`. */
export const definition = commandGroup([show, print, importFile, reset])

function toView({ data, origin }: ReleaseDataInUse, now: Date) {
  const stale = listStaleSections(data, now)
  return {
    date: data.date,
    origin: origin.kind,
    imported_at: origin.kind === 'imported' ? origin.at : null,
    imported_by: origin.kind === 'imported' ? origin.by : null,
    sections: RELEASE_SECTIONS.map((name) => ({
      name,
      as_of: data[name].as_of,
      stale: stale.includes(name),
      source: data[name].source,
    })),
  }
}

function toChangesView({ updated }: CatalogueChanges) {
  return { changed_checks: updated }
}

function toLines({ changed_checks: slugs }: ReturnType<typeof toChangesView>): string[] {
  if (slugs.length === 0) return ['No check changes.']
  return ['These checks have changed and run anew:', ...slugs.map((slug) => `  ${slug}`)]
}

async function readJson(path: string): Promise<unknown> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    throw new AppError('invalid_body', `The file ${path} cannot be read.`, { cause: error })
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new AppError('invalid_body', `The file ${path} is no JSON: ${reason}`, { cause: error })
  }
}
