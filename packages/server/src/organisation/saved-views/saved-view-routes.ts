import { z } from 'zod'
import { changeRoute } from '../../changes/change-routes.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { givenMembers } from '../../platform/given-members.ts'
import type { Caller } from '../../platform/http/operation.ts'
import { toStorableText } from '../../platform/storable-text.ts'
import { toWire } from '../../platform/wire/to-wire.ts'
import { timestampSchema } from '../../platform/wire/wire-values.ts'
import { listRoute, type ApiRoute } from '../../schema/operations.ts'
import {
  changeSavedView,
  createSavedView,
  mayChangeView,
  OWN_VIEWS_MAX,
  removeSavedView,
  SHARED_VIEWS_MAX,
  type ViewCaller,
  type ViewValues,
} from './change-saved-views.ts'
import { listSavedViews, type SavedView } from './saved-view-store.ts'

const ACCESS = { tags: ['Saved views'], permission: null } as const

const NAME_LENGTH_MAX = 80
const PATH_LENGTH_MAX = 200
const SEARCH_LENGTH_MAX = 4_096
const COLUMNS_MAX = 60
const COLUMN_LENGTH_MAX = 100

const savedViewSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    list: z.string().describe('The path of the list in the API.'),
    page: z.string().describe('Where the console shows the list.'),
    search: z.string().describe('What stands behind the question mark of that address.'),
    columns: z
      .array(z.string())
      .nullable()
      .describe('Those that are shown; null for the usual ones.'),
    order: z.enum(['asc', 'desc']).nullable().describe('Null for the usual one.'),
    shared: z.boolean().describe('Whether everybody in the organisation sees it.'),
    owner_name: z.string().nullable().describe('Null where it belongs to the organisation.'),
    may_change: z.boolean().describe('Whether the caller may change and delete it.'),
    created_at: timestampSchema,
    updated_at: timestampSchema,
  })
  .meta({ id: 'SavedView' })

const pathSchema = z.string().max(PATH_LENGTH_MAX)

const viewShape = {
  name: z.string().trim().min(1).max(NAME_LENGTH_MAX).transform(toStorableText),
  list: pathSchema.regex(/^(?:\/[\w{}]+)+$/, 'Must be the path of a list, such as /devices'),
  page: pathSchema.regex(/^(?:\/[\w.~%-]+)+$/, 'Must be a path of the console, such as /devices'),
  search: z.string().max(SEARCH_LENGTH_MAX).transform(toStorableText),
  columns: z
    .array(z.string().min(1).max(COLUMN_LENGTH_MAX).transform(toStorableText))
    .max(COLUMNS_MAX)
    .nullable(),
  order: z.enum(['asc', 'desc']).nullable(),
  shared: z.boolean(),
}

const createBody = z
  .strictObject({
    ...viewShape,
    search: viewShape.search.default(''),
    columns: viewShape.columns.default(null),
    order: viewShape.order.default(null),
    shared: viewShape.shared.default(false),
  })
  .meta({ id: 'CreateSavedView' })

const changeBody = z
  .strictObject(viewShape)
  .omit({ list: true })
  .partial()
  .meta({ id: 'ChangeSavedView' })

/** Views of lists that admins keep in the console, for themselves or for all. */
export function savedViewRoutes({
  db,
  runChange,
}: Pick<Foundation, 'db' | 'runChange'>): ApiRoute[] {
  return [savedViewList(db), ...writeRoutes(runChange)]
}

function savedViewList(db: Foundation['db']): ApiRoute {
  return listRoute({
    ...ACCESS,
    path: '/saved_views',
    summary: 'List saved views',
    description: 'Those that are shared, and for an admin who is signed in their own.',
    filters: z.object({
      list: pathSchema
        .transform(toStorableText)
        .optional()
        .describe('The path of a list in the API.'),
    }),
    item: savedViewSchema,
    fetch: async ({ principal, filters, window }) => {
      const caller = callerOf(principal)
      const { adminId } = caller
      const views = await listSavedViews(db, { adminId, list: filters.list }, window)
      return views.map((view) => toJson(view, caller))
    },
    toJson: (view) => view,
  })
}

function writeRoutes(runChange: Foundation['runChange']): ApiRoute[] {
  return [
    changeRoute(runChange, {
      ...ACCESS,
      method: 'POST',
      path: '/saved_views',
      summary: 'Save a view',
      description: `Of an admin who is signed in, their own; of an API key, which needs the permission Manage Organisation, one of the organisation, which is shared. An admin has up to ${OWN_VIEWS_MAX}, and up to ${SHARED_VIEWS_MAX} can be shared.`,
      body: createBody,
      responses: { 200: savedViewSchema },
      example: {
        body: {
          name: 'Blocked Macs',
          list: '/devices',
          page: '/devices',
          search: 'query=auth_state%3ABlocked',
          columns: ['name', 'state', 'owner'],
          order: 'desc',
          shared: true,
        },
      },
      handler: async ({ change, principal, body }) => {
        const caller = callerOf(principal)
        const { order, shared, ...values } = body
        const view = { ...values, rowOrder: order, isShared: shared }
        return toJson(await createSavedView(change, caller, view), caller)
      },
    }),
    changeRoute(runChange, {
      ...ACCESS,
      method: 'PATCH',
      path: '/saved_views/:id',
      summary: 'Change a saved view',
      description:
        'Its owner may, and with the permission Manage Organisation whoever sees it. Members that are left out stay as they are. Only the owner can stop sharing it.',
      body: changeBody,
      responses: { 200: savedViewSchema },
      example: { body: { name: 'Blocked laptops' } },
      handler: async ({ change, params, principal, body }) => {
        const caller = callerOf(principal)
        return toJson(await changeSavedView(change, params.id, caller, toEdit(body)), caller)
      },
    }),
    changeRoute(runChange, {
      ...ACCESS,
      method: 'DELETE',
      path: '/saved_views/:id',
      summary: 'Delete a saved view',
      description: 'Its owner may, and with the permission Manage Organisation whoever sees it.',
      responses: { 200: savedViewSchema },
      handler: async ({ change, params, principal }) => {
        const caller = callerOf(principal)
        return toJson(await removeSavedView(change, params.id, caller), caller)
      },
    }),
  ]
}

function toEdit({ order, shared, ...values }: z.output<typeof changeBody>): Partial<ViewValues> {
  return {
    ...givenMembers(values),
    ...(order === undefined ? {} : { rowOrder: order }),
    ...(shared === undefined ? {} : { isShared: shared }),
  }
}

function callerOf({ kind, id, permissions }: Caller): ViewCaller {
  return {
    adminId: kind === 'admin' ? id : null,
    managesOrganisation: permissions.has('Manage Organisation'),
  }
}

function toJson(view: SavedView, caller: ViewCaller): z.input<typeof savedViewSchema> {
  return toWire(savedViewSchema, view, {
    order: view.rowOrder,
    shared: view.isShared,
    may_change: mayChangeView(view, caller),
  })
}
