import { z } from 'zod'
import { toWire } from '../../../../platform/wire/to-wire.ts'
import { timestampSchema, toTimestamp } from '../../../../platform/wire/wire-values.ts'
import { DEVICE_TYPES } from '../../../devices/device-read.ts'
import { IMPACT_STAGES } from './impact-stage.ts'
import type { ConfigurationImpact, PreviewedMove } from './preview-configuration.ts'
import type { GroupMove } from './preview-store.ts'

const authStateSchema = z.enum(['Good', 'Notified', 'Will Block', 'Blocked'])

const statusSchema = z.object({
  auth_state: authStateSchema,
  compliance: z.enum(['compliant', 'not-compliant']),
  will_block_at: timestampSchema.nullable(),
})

const transitionShape = {
  from: authStateSchema,
  to: authStateSchema,
  device_count: z.int(),
}
const transitionSchema = z.object(transitionShape)

const moveSchema = z.object({
  device_id: z.string(),
  device_name: z.string(),
  device_type: z.enum(Object.values(DEVICE_TYPES)),
  owner_person_id: z.string().nullable(),
  owner_email: z.string().nullable(),
  from: statusSchema,
  to: statusSchema,
})

/** What a configuration would do, on the wire. */
export const configurationPreviewSchema = z
  .object({
    as_of: timestampSchema.describe('The moves are those that a change at this time would make.'),
    changes: z.array(z.string()).describe('The members of the configuration that would change.'),
    stages: z
      .array(
        z.object({
          stage: z.enum(IMPACT_STAGES),
          current: z.int(),
          proposed: z.int(),
          difference: z.int(),
        }),
      )
      .describe('How many of all devices are at which stage, from no notice to being blocked.'),
    newly_checked_count: z
      .int()
      .describe('Devices that would begin to run the check. What they will answer is not known.'),
    no_longer_checked_count: z.int(),
    moving_count: z
      .int()
      .describe('Devices whose status, or the time at which they will be blocked, would change.'),
    transitions: z.array(transitionSchema),
    by_device_type: z.array(
      z.object({ device_type: z.enum(Object.values(DEVICE_TYPES)), ...transitionShape }),
    ),
    by_group: z
      .array(
        z.object({
          device_group_id: z.string(),
          device_group_name: z.string(),
          transitions: z.array(transitionSchema),
        }),
      )
      .describe('The hundred groups with most devices that move, most first.'),
    moves: z.array(moveSchema).describe('A page of the devices that move, by ascending id.'),
    next_after: z
      .string()
      .nullable()
      .describe('The `after` of the next page; null when there is none.'),
  })
  .meta({ id: 'CheckConfigurationPreview', description: 'What a configuration would do.' })

/** Which moves are shown. */
export interface MovesPage {
  readonly after: string | undefined
  readonly perPage: number
}

/** The wire form of what a configuration would do, with a page of the devices that move. */
export function toConfigurationPreviewJson(
  impact: ConfigurationImpact,
  { after, perPage }: MovesPage,
  now: Date,
): z.input<typeof configurationPreviewSchema> {
  const { moves } = impact
  const last = BigInt(after ?? 0)
  const next = moves.findIndex(({ deviceId }) => BigInt(deviceId) > last)
  const begin = next === -1 ? moves.length : next
  const page = moves.slice(begin, begin + perPage)
  const lastShown = begin + perPage < moves.length ? page.at(-1) : undefined
  return {
    as_of: toTimestamp(now),
    changes: [...impact.changedNames],
    stages: impact.stages.map((stage) => ({
      ...stage,
      difference: stage.proposed - stage.current,
    })),
    newly_checked_count: impact.scope.gained,
    no_longer_checked_count: impact.scope.lost,
    moving_count: moves.length,
    transitions: toTransitions(moves),
    by_device_type: [...Map.groupBy(moves, ({ platform }) => platform)].flatMap(
      ([platform, ofPlatform]) =>
        toTransitions(ofPlatform).map((transition) => ({
          device_type: DEVICE_TYPES[platform],
          ...transition,
        })),
    ),
    by_group: toGroups(impact.groupMoves),
    moves: page.map((move) =>
      toWire(moveSchema, move, {
        device_type: DEVICE_TYPES[move.platform],
        from: toWire(statusSchema, move.from),
        to: toWire(statusSchema, move.to),
      }),
    ),
    next_after: lastShown?.deviceId ?? null,
  }
}

function toTransitions(moves: readonly PreviewedMove[]) {
  const groups = Map.groupBy(moves, ({ from, to }) => `${from.authState}>${to.authState}`)
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    if (first === undefined) return []
    const { from, to } = first
    return [{ from: from.authState, to: to.authState, device_count: group.length }]
  })
}

function toGroups(groupMoves: readonly GroupMove[]) {
  return [...Map.groupBy(groupMoves, ({ groupId }) => groupId)].map(([id, ofGroup]) => ({
    device_group_id: id,
    device_group_name: ofGroup[0]?.groupName ?? '',
    transitions: ofGroup.map(({ from, to, count }) => ({ from, to, device_count: count })),
  }))
}
