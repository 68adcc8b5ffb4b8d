import { DARWIN_KNOBS } from './darwin-knobs.ts'
import type { Knob } from './knob.ts'
import { LINUX_KNOBS } from './linux-knobs.ts'
import type { Platform } from '../platform.ts'
import { WINDOWS_KNOBS } from './windows-knobs.ts'

const KNOBS_BY_PLATFORM: Readonly<Record<Platform, readonly Knob[]>> = {
  darwin: DARWIN_KNOBS,
  linux: LINUX_KNOBS,
  windows: WINDOWS_KNOBS,
}

/** Every knob of a platform. Names are the same across platforms where they mean the same. */
export function listKnobs(platform: Platform): readonly Knob[] {
  return KNOBS_BY_PLATFORM[platform]
}

/** The knob of that name, or undefined where the platform has none. */
export function findKnob(platform: Platform, name: string): Knob | undefined {
  return KNOBS_BY_PLATFORM[platform].find((knob) => knob.name === name)
}
