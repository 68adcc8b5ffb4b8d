import { sql, type Kysely } from 'kysely'
import type { PageWindow } from '../../../platform/db/page.ts'
import type { Schema } from '../../../schema/schema.ts'
import type { SearchExpression, SearchField } from '../../../platform/search/search-field.ts'
import type { SearchColumns } from '../../../platform/search/search-to-sql.ts'
import { readPage, type SearchedList } from '../../../platform/search/searched-list.ts'
import type { CustomCheckDraft } from './draft-readiness.ts'

/** What drafts can be searched by. */
export const DRAFT_SEARCH_FIELDS: readonly SearchField[] = [
  { name: 'name', type: 'text', operators: [':', '~'] },
  { name: 'slug', type: 'text', operators: [':', '~'] },
  { name: 'id', type: 'id', operators: [':', '~'] },
  { name: 'created_at', type: 'timestamp', operators: ['<', '>'] },
  { name: 'updated_at', type: 'timestamp', operators: ['<', '>'] },
]

const COLUMNS: SearchColumns = {
  name: sql.ref('custom_check_draft.name'),
  slug: sql.ref('custom_check_draft.slug'),
  id: sql.ref('custom_check_draft.id'),
  created_at: sql.ref('custom_check_draft.created_at'),
  updated_at: sql.ref('custom_check_draft.updated_at'),
}

/** Where the fields of the list are. */
export const DRAFT_LIST: SearchedList = {
  table: 'custom_check_draft',
  key: 'id',
  fields: DRAFT_SEARCH_FIELDS,
  columns: COLUMNS,
}

/** A page of drafts by ascending id. */
export async function listDrafts(
  db: Kysely<Schema>,
  search: SearchExpression | undefined,
  window: PageWindow,
): Promise<CustomCheckDraft[]> {
  return readPage(db, DRAFT_LIST, { search, window }, (source, isOnPage) =>
    source
      .selectFrom('custom_check_draft')
      .selectAll()
      .where(isOnPage)
      .orderBy('custom_check_draft.id')
      .limit(window.limit)
      .execute(),
  )
}
