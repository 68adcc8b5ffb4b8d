/* Why a device is in its state, from its open issues: one sentence. */
import type { Device, Issue } from '../api/generated/types.gen.ts'
import { texts } from './texts.ts'

const NAMED_MAX = 3

export interface Why {
  readonly sentence: string
  /** Since when something fails without a pause; undefined while nothing does. */
  readonly failingSince?: string
}

/** What is so and why. The issues are those that are open. */
export function explainState(device: Device, issues: readonly Issue[]): Why {
  const counted = issues.filter(({ exempted }) => !exempted)
  const since = counted.map(({ detected_at: at }) => at).sort()[0]
  const sentence = sentenceOf(device, counted, issues.length)
  return since === undefined ? { sentence } : { sentence, failingSince: since }
}

function sentenceOf(device: Device, counted: readonly Issue[], all: number): string {
  const { why } = texts
  const blocking = counted
    .filter(({ blocks_device_at: at }) => at !== null)
    .sort((a, b) => String(a.blocks_device_at).localeCompare(String(b.blocks_device_at)))
  switch (device.auth_state) {
    case 'Good':
      return all === 0 ? why.good : why.goodWithIssues(all)
    case 'Notified':
      return why.notified(nameIssues(counted))
    case 'Will Block':
      return why.willBlock(nameIssues(blocking.length > 0 ? blocking : counted))
    case 'Blocked': {
      if (blocking.length > 0) return why.blocked(nameIssues(blocking))
      return device.registered_owner_info.identifier === '' ? why.unregistered : why.blockedElsewise
    }
  }
}

function nameIssues(issues: readonly Issue[]): string {
  const titles = [...new Set(issues.map(({ title }) => title))]
  const named = titles.slice(0, NAMED_MAX).join(', ')
  const more = titles.length - NAMED_MAX
  return more > 0 ? `${named} ${texts.why.and(more)}` : named
}
