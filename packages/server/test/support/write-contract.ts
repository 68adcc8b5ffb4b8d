/*
 * What holds for every operation that changes something: who may call it, and that a refusal leaves no
 * trace.
 */
import { describe, expect, it } from 'vitest'
import type { Permission } from '../../src/schema/permissions.ts'
import { PERMISSIONS } from '../../src/schema/permissions.ts'
import type { TestApi, TestRefusal, TestRequest } from './api-app.ts'

export interface WriteContract {
  readonly api: () => TestApi
  readonly method: NonNullable<TestRequest['method']>
  readonly path: () => string
  readonly payload?: () => object
  readonly permission: Permission
  /** Paths of the same operation whose record does not exist. */
  readonly missingPaths?: () => readonly string[]
}

/** The tests of access to an operation, and of its records that do not exist. */
export function describeWriteContract(contract: WriteContract): void {
  const { api, method, path, payload, permission, missingPaths = () => [] } = contract
  const send = (url: string, key: string | null) =>
    api().request<TestRefusal>(url, {
      method,
      key,
      ...(payload === undefined ? {} : { payload: payload() }),
    })
  const auditCount = () => countAuditEntries(api())

  describe(`access to ${method}`, () => {
    it('is refused without a credential', async () => {
      const before = await auditCount()
      const { status, headers } = await send(path(), null)
      expect(status).toBe(401)
      expect(headers['www-authenticate']).toBe('Bearer')
      expect(await auditCount()).toBe(before)
    })

    it(`is refused without the permission ${permission}, which the refusal names`, async () => {
      const others = PERMISSIONS.filter((name) => name !== permission)
      const key = await api().createKey(others)
      const before = await auditCount()
      const { status, headers, body } = await send(path(), key)
      expect(status).toBe(403)
      expect(headers['www-authenticate']).toBe('Bearer error="insufficient_scope"')
      expect(body).toMatchObject({ error: 'Forbidden', code: 'permission_missing' })
      expect(body.message).toContain(permission)
      expect(await auditCount()).toBe(before)
    })

    it('is refused for records that do not exist', async () => {
      const key = await api().createKey([permission])
      const before = await auditCount()
      for (const missing of missingPaths()) {
        const { status, body } = await send(missing, key)
        expect([missing, status, body.code]).toEqual([missing, 404, 'not_found'])
      }
      expect(await auditCount()).toBe(before)
    })
  })
}

/** How many entries the audit log has. */
export async function countAuditEntries({ db }: Pick<TestApi, 'db'>): Promise<number> {
  const rows = await db.selectFrom('audit_entry').select('sequence').execute()
  return rows.length
}

/** The last entry of the audit log, or the last one of an action. */
export async function lastAuditEntry({ db }: Pick<TestApi, 'db'>, action?: string) {
  let query = db
    .selectFrom('audit_entry')
    .select(['action', 'actor_type', 'target_type', 'target_id', 'description', 'before', 'after'])
    .orderBy('sequence', 'desc')
    .limit(1)
  if (action !== undefined) query = query.where('action', '=', action)
  return query.executeTakeFirst()
}

/** The entries of the audit log about a target, oldest first; of all actions or of one. */
export function listAuditEntries(
  { db }: Pick<TestApi, 'db'>,
  target: { readonly type: string; readonly id: string },
  action?: string,
) {
  let query = db
    .selectFrom('audit_entry')
    .selectAll()
    .where('target_type', '=', target.type)
    .where('target_id', '=', target.id)
    .orderBy('sequence')
  if (action !== undefined) query = query.where('action', '=', action)
  return query.execute()
}
