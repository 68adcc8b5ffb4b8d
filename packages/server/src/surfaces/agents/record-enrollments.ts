/* Records enrollments; those of devices that come together in one change. */
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import { isFaultOfDatabase } from '../../platform/db/database-fault.ts'
import { GroupCommitter } from '../../platform/group-committer.ts'
import { enrollDevices } from '../../posture/osquery/enroll-devices.ts'
import type { Enrollment, EnrollmentAttempt } from '../../posture/osquery/enrollment.ts'
import type { AgentDependencies } from './agent-handler.ts'

export interface EnrollmentRecorder {
  /** Enrolls a device; resolves when what became of it is stored. `bytes` is what is held of its request. */
  enroll(attempt: EnrollmentAttempt, bytes: number): Promise<Enrollment>
  /** Resolves when everything that was taken is stored or has failed. */
  close(): Promise<void>
}

const LIMITS = {
  membersMax: 64,
  bytesMax: 4 * 1024 * 1024,
  runningMax: 4,
  /** Each waits with a request of its own. */
  waitingMax: 20_000,
  waitMaxMs: 30 * SECOND_MS,
}

/** Creates the recorder of enrollments of one process. */
export function createEnrollmentRecorder({
  runChange,
  settings,
}: Pick<AgentDependencies, 'runChange' | 'settings'>): EnrollmentRecorder {
  const groups = new GroupCommitter<EnrollmentAttempt, Enrollment>({
    limits: LIMITS,
    commit: (attempts) =>
      runChange({ actor: SYSTEM_ACTOR }, (change) =>
        enrollDevices(change, attempts, settings.nodeKeyAliveMs),
      ),
    isFaultOfAll: isFaultOfDatabase,
  })
  return {
    enroll: (attempt, bytes) => groups.add(attempt, bytes),
    close: () => groups.close(),
  }
}
