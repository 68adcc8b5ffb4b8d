import type { KeyUsageRecorder } from '../organisation/api-keys/key-usage-recorder.ts'
import { checkPermission, type AccessCheck } from '../platform/http/access.ts'
import { permissionOf, toDocumentPath } from '../platform/http/operation.ts'

/**
 * Refuses a caller who lacks the permission of an operation, and remembers of keys what they asked for, with
 * and without success.
 */
export function createPermissionCheck({
  recordPermissionUse,
}: Pick<KeyUsageRecorder, 'recordPermissionUse'>): AccessCheck {
  return (operation, request) => {
    const permission = permissionOf(operation)
    const { caller } = request
    if (permission !== null && caller?.kind === 'api_key') {
      recordPermissionUse({
        keyId: caller.id,
        permission,
        isAllowed: caller.permissions.has(permission),
        operation: `${operation.method} ${toDocumentPath(operation.path)}`,
      })
    }
    return checkPermission(operation, request)
  }
}
