/*
 * A list as the source of a file: whether it can be one, how its pages are read through its own operation, and what
 * the columns are.
 */
import { z } from 'zod'
import { PER_PAGE_MAX } from '../../../platform/db/page.ts'
import type { Operation, OperationRequest } from '../../../platform/http/operation.ts'

type Row = Readonly<Record<string, unknown>>

/** A page of a list, as the list answers it. */
export interface ListPage {
  readonly data: readonly Row[]
  readonly pagination: { readonly next_cursor: string }
}

/** Parameters of lists that do not belong to a file: where a page begins, and what is put into records. */
const NOT_OF_FILES = ['cursor', 'per_page', 'expand', 'stream_id']

/** Whether an operation lists records for keys and admins alike. */
export function isExportable({
  method,
  access,
  hidden,
  credentials,
  responses,
}: Operation): boolean {
  return (
    method === 'GET' &&
    typeof access === 'object' &&
    'permission' in access &&
    credentials.length === 0 &&
    !hidden &&
    itemOf(responses[200]) !== undefined
  )
}

/** The parameters of a list that choose and order its records. */
export function exportQuery({ query }: Operation): z.ZodObject {
  const shape = query instanceof z.ZodObject ? query.shape : {}
  return z.object(
    Object.fromEntries(
      Object.entries(shape as Readonly<Record<string, z.ZodType>>).filter(
        ([name]) => !NOT_OF_FILES.includes(name),
      ),
    ),
  )
}

/**
 * The page after a cursor, the first one without it.
 *
 * @throws AppError what the list refuses
 */
export async function readExportPage(
  list: Operation,
  request: OperationRequest,
  cursor = '',
): Promise<ListPage> {
  const place = cursor === '' ? {} : { cursor }
  const query = { ...request.query, per_page: String(PER_PAGE_MAX), ...place }
  const { body } = await list.run({ ...request, query })
  return body as ListPage
}

/** The members of the records: as they are documented, and where these are open, as the first records have them. */
export function columnsOf({ responses }: Operation, { data }: ListPage): string[] {
  const item = itemOf(responses[200])
  const declared = item instanceof z.ZodObject ? Object.keys(item.shape) : []
  const isClosed = item instanceof z.ZodObject && !(item.def.catchall instanceof z.ZodUnknown)
  const found = isClosed ? [] : data.flatMap((row) => Object.keys(row))
  return [...new Set([...declared, ...found])]
}

/** Of a link to another record its id. */
export function toCell(value: unknown): unknown {
  const isLink =
    typeof value === 'object' && value !== null && 'identifier' in value && 'link' in value
  return isLink ? value.identifier : value
}

/** The schema of a record of a list; of an operation that answers something else, nothing. */
function itemOf(schema: unknown): z.ZodObject | z.ZodRecord | undefined {
  if (schema instanceof z.ZodUnion) {
    return schema.options.map(itemOf).find((item) => item !== undefined)
  }
  if (!(schema instanceof z.ZodObject) || !('pagination' in schema.shape)) return undefined
  const data: unknown = schema.shape['data']
  const item: unknown = data instanceof z.ZodArray ? data.element : undefined
  return item instanceof z.ZodObject || item instanceof z.ZodRecord ? item : undefined
}
