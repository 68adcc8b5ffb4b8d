import type { Change } from '../../changes/change.ts'
import type { InitiatingEntity } from '../../schema/status-values.ts'
import type { NewCheckTransition } from './check-result-store.ts'
import type { Judgement } from './judge-check-result.ts'

/** How many rows of a result its transition keeps, as evidence of why it changed. */
const TRANSITION_ROWS_MAX = 20

/** What the history of a device keeps of judgements: one entry for each status that changed. `part` is the device's. */
export function toCheckTransitions(
  part: Change,
  deviceId: string,
  judgements: readonly Judgement[],
  terms: { readonly ranAt: Date; readonly initiatingEntity: InitiatingEntity },
): NewCheckTransition[] {
  return judgements.flatMap(({ transition, result }) =>
    transition === null
      ? []
      : [
          {
            device_id: deviceId,
            check_id: result.check_id,
            occurred_at: terms.ranAt,
            from_status: transition.from,
            to_status: transition.to,
            revision: result.revision,
            initiating_entity: terms.initiatingEntity,
            actor_name: part.origin.actor.name,
            reason: result.error_message ?? `The check answered ${transition.to}.`,
            rows: result.rows.slice(0, TRANSITION_ROWS_MAX),
            txn: part.txn,
          },
        ],
  )
}
