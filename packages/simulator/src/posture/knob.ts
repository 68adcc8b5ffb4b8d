/**
 * Knobs of posture: named settings of a device that can be good or bad. Turning one changes real
 * rows of its tables, so that a check sees what it would see on a real device.
 */
import type { TemplateChange } from '../personas/template-rows.ts'
import type { Platform } from '../platform.ts'

export type PostureState = 'good' | 'bad'

export interface Knob {
  readonly name: string
  readonly platform: Platform
  /** What is good, in a few words. */
  readonly title: string
  readonly good: readonly TemplateChange[]
  readonly bad: readonly TemplateChange[]
}

/** A knob without its platform, as the platforms' lists write it. */
export type KnobSource = Omit<Knob, 'platform'>

/** Adds the platform to a list of knobs. */
export function knobsOf(platform: Platform, sources: readonly KnobSource[]): Knob[] {
  return sources.map((source) => ({ ...source, platform }))
}
