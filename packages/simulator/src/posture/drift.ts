/** How the posture of devices changes by itself: at random, or as a script says. */
import { listKnobs } from './knobs.ts'
import type { PostureState } from './knob.ts'
import type { SimulatedDevice } from './simulated-device.ts'
import { pick } from '../random.ts'
import type { Random } from '../random.ts'
import type { CancelTask, Scheduler } from '../scheduler.ts'

const TICK_MS = 5_000
const MINUTE_MS = 60_000

/** Chances by which posture drifts. */
export interface DriftPolicy {
  /** How likely a device breaks one of its good knobs within a minute, 0 to 1. */
  readonly breakPerMinute: number
  /** How likely a bad knob is fixed within a minute, 0 to 1. */
  readonly fixPerMinute: number
  /** The knobs that may break; all of the platform by default. */
  readonly knobs?: readonly string[]
  /** Devices that stay as they are. */
  readonly isSpared?: (device: SimulatedDevice) => boolean
}

/** One turn of a knob, so many milliseconds after the start. `node` counts from 0. */
export interface TimelineEntry {
  readonly atMs: number
  readonly node: number
  readonly knob: string
  readonly to: PostureState
}

/** Told about every turn of a knob. */
export type PostureListener = (device: SimulatedDevice, knob: string, to: PostureState) => void

function breakableKnobs(device: SimulatedDevice, policy: DriftPolicy): string[] {
  return listKnobs(device.platform)
    .map(({ name }) => name)
    .filter((name) => !device.badKnobs.has(name) && (policy.knobs?.includes(name) ?? true))
}

/** Lets one tick of drift pass over a device. */
function driftOnce(
  device: SimulatedDevice,
  policy: DriftPolicy,
  random: Random,
  onChange: PostureListener,
): void {
  const share = TICK_MS / MINUTE_MS
  for (const knob of [...device.badKnobs]) {
    if (random() >= policy.fixPerMinute * share) continue
    device.setPosture(knob, 'good')
    onChange(device, knob, 'good')
  }
  if (random() >= policy.breakPerMinute * share) return
  const candidates = breakableKnobs(device, policy)
  if (candidates.length === 0) return
  const knob = pick(candidates, random)
  device.setPosture(knob, 'bad')
  onChange(device, knob, 'bad')
}

/** Lets devices drift until the returned function is called. */
export function startDrift(
  devices: readonly SimulatedDevice[],
  policy: DriftPolicy,
  tools: { scheduler: Scheduler; random: Random; onChange?: PostureListener },
): CancelTask {
  const onChange = tools.onChange ?? (() => undefined)
  let cancel = tools.scheduler.schedule(TICK_MS, tick)
  function tick(): void {
    for (const device of devices) {
      if (policy.isSpared?.(device) !== true) driftOnce(device, policy, tools.random, onChange)
    }
    cancel = tools.scheduler.schedule(TICK_MS, tick)
  }
  return () => cancel()
}

/** Plays a script of knob turns; the returned function stops it. Throws on a node that is not there. */
export function playTimeline(
  devices: readonly SimulatedDevice[],
  timeline: readonly TimelineEntry[],
  tools: { scheduler: Scheduler; onChange?: PostureListener },
): CancelTask {
  const cancels = timeline.map(({ atMs, node, knob, to }) => {
    const device = devices[node]
    if (device === undefined) throw new Error(`The fleet has no node ${node}`)
    return tools.scheduler.schedule(atMs, () => {
      device.setPosture(knob, to)
      tools.onChange?.(device, knob, to)
    })
  })
  return () => cancels.forEach((cancel) => cancel())
}
