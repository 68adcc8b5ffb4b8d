import { toRecord } from '../../../platform/db/record-table.ts'
import type { RunChange } from '../../../changes/change.ts'
import type { Foundation } from '../../../changes/foundation.ts'
import { changeRoute } from '../../../changes/change-routes.ts'
import { listRecords, showRecord, type ApiRoute } from '../../../schema/operations.ts'
import { parseId } from '../../../platform/ids.ts'
import { conflict } from '../../../platform/app-error.ts'
import {
  assertNamesAllowed,
  describeRefusedNames,
  type RefusedNames,
} from '../../live-queries/refused-names.ts'
import { changeDraftBody, createDraftBody } from './draft-input.ts'
import { customCheckDraftSchema, toDraftJson } from './draft-json.ts'
import { DRAFT_LIST } from './draft-read.ts'
import { publishDraft } from './publish-draft.ts'
import { changeDraft, createDraft, deleteDraft } from './write-draft.ts'

export interface CustomCheckDraftDependencies extends Pick<Foundation, 'db' | 'runChange'> {
  readonly refusedNames: RefusedNames
}

interface CustomCheckDraftRouteDependencies extends CustomCheckDraftDependencies {
  readonly runScopeChange: RunChange
}

const READ = {
  tags: ['Custom check drafts'],
  permission: null,
  versions: ['2026-04-07'],
} as const

const WRITE = {
  ...READ,
  permission: 'Manage Checks',
  responses: { 200: customCheckDraftSchema },
} as const

const toId = (text: string) => parseId(text, 'custom check draft')

/** Drafts of custom checks: reading, writing and publishing. */
export function customCheckDraftRoutes(
  dependencies: CustomCheckDraftRouteDependencies,
): ApiRoute[] {
  return [...readRoutes(dependencies), ...writeRoutes(dependencies)]
}

function readRoutes({ db }: CustomCheckDraftDependencies): ApiRoute[] {
  const drafts = { db, list: DRAFT_LIST, item: customCheckDraftSchema, toJson: toDraftJson }
  return [
    listRecords(drafts, {
      ...READ,
      path: '/custom_check_drafts',
      summary: 'List custom check drafts',
    }),
    showRecord(drafts, {
      ...READ,
      path: '/custom_check_drafts/:id',
      summary: 'Show a custom check draft',
    }),
  ]
}

function writeRoutes({
  refusedNames,
  runChange,
  runScopeChange,
}: CustomCheckDraftRouteDependencies): ApiRoute[] {
  const assertAllowed = ({
    osquery_sql: sql = '',
  }: {
    readonly osquery_sql?: string | undefined
  }) => assertNamesAllowed(sql, refusedNames, 'osquery_sql')
  return [
    changeRoute(runChange, {
      ...WRITE,
      method: 'POST',
      path: '/custom_check_drafts',
      summary: 'Create a custom check draft',
      description:
        'It may be incomplete; `problems` says what is missing until it can be published.',
      body: createDraftBody,
      example: { body: { name: 'Company antivirus runs', platforms: ['darwin'] } },
      handler: async ({ change, body }) => {
        assertAllowed(body)
        return toDraftJson(await createDraft(change, toRecord(body)))
      },
    }),
    changeRoute(runChange, {
      ...WRITE,
      method: 'PATCH',
      path: '/custom_check_drafts/:id',
      summary: 'Change a custom check draft',
      description: 'The check that was made from it changes when the draft is published again.',
      body: changeDraftBody,
      example: { body: { issue_title: 'The company antivirus does not run' } },
      handler: async ({ change, params, body }) => {
        assertAllowed(body)
        return toDraftJson(await changeDraft(change, toId(params.id), toRecord(body)))
      },
    }),
    changeRoute(runScopeChange, {
      ...WRITE,
      method: 'POST',
      path: '/custom_check_drafts/:id/publish',
      summary: 'Publish a custom check draft',
      description:
        'Makes a check from it that only reports until it is configured, or raises the revision of the check that was made from it.',
      handler: async ({ change, params }) => {
        const draft = await publishDraft(change, toId(params.id))
        const problem = describeRefusedNames(draft.osquerySql, refusedNames)
        if (problem !== undefined) throw conflict(`The draft cannot be published. ${problem}`)
        return toDraftJson(draft)
      },
    }),
    changeRoute(runChange, {
      ...WRITE,
      method: 'DELETE',
      path: '/custom_check_drafts/:id',
      summary: 'Delete a custom check draft',
      description: 'The check that was made from it stays.',
      handler: async ({ change, params }) =>
        toDraftJson(await deleteDraft(change, toId(params.id))),
    }),
  ]
}
