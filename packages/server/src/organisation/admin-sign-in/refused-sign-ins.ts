import type { Change, ChangeOrigin, RunChange } from '../../changes/change.ts'
import { AppError } from '../../platform/app-error.ts'
import type { Admin } from '../admins/find-admin.ts'
import { describeAdmin } from './sign-in.ts'

interface SignInAttempt {
  readonly runChange: RunChange
  readonly origin: ChangeOrigin
  /** Whom the attempt is about; undefined when nobody has the address. */
  readonly admin: Admin | undefined
  readonly method: 'passkey' | 'password' | 'identity provider' | 'step-up'
  /** What else a refusal changes. */
  readonly onRefused?: (change: Change) => Promise<void>
}

/** Lets somebody try to sign in; a refusal is in the audit log before it is answered. */
export async function refuseSignIn<Result>(
  { runChange, origin, admin, method, onRefused }: SignInAttempt,
  attempt: () => Promise<Result>,
): Promise<Result> {
  try {
    return await attempt()
  } catch (error) {
    if (error instanceof AppError && error.code === 'sign_in_failed') {
      const whom = admin === undefined ? 'somebody who is no admin' : describeAdmin(admin)
      await runChange(origin, async (change) => {
        change.recordAudit({
          action: 'admin_sign_in.refused',
          target: admin === undefined ? null : { type: 'admin_user', id: admin.id },
          description: `refused ${whom} by ${method}`,
          after: { method },
        })
        await onRefused?.(change)
      })
    }
    throw error
  }
}
