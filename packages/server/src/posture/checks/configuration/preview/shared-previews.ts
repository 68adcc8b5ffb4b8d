/*
 * Previews of configurations, within bounds. A preview looks at every device that has an issue of its check: it is
 * derived once for all who ask for the same within some seconds, whichever page they ask for, and one at a time, so
 * that previews take neither the processor nor the connections of everybody else.
 */
import type { Foundation } from '../../../../changes/foundation.ts'
import { createBoundedWork } from '../../../../platform/bounded-work.ts'
import type { ConfigurationInput } from '../check-configuration-input.ts'
import { getCheckConfiguration } from '../check-configuration-store.ts'
import { previewConfiguration, type ConfigurationImpact } from './preview-configuration.ts'

/** What a configuration would do at a time. */
interface Preview {
  readonly at: Date
  readonly impact: ConfigurationImpact
}

/**
 * Previews a configuration of a check.
 *
 * @throws AppError `not_found`; `invalid_body` for groups that do not exist; `rate_limited` when too many wait
 */
export type Previewer = (checkId: string, input: ConfigurationInput) => Promise<Preview>

interface PreviewerOptions extends Pick<Foundation, 'db' | 'clock'> {
  /** For how long a preview that is done stands for those who ask next. */
  readonly freshMs: number
}

/** Previews that wait for the one which is derived; of 50,000 devices one takes some seconds. */
export const WAITING_MAX = 4
/** Previews that are kept: one of 50,000 moves holds about 25 MB. */
const KEPT_MAX = 3

interface KeptPreview {
  readonly preview: Promise<Preview>
  /** Null while it is derived. */
  doneAt: number | null
}

export function createPreviewer({ db, clock, freshMs }: PreviewerOptions): Previewer {
  const work = createBoundedWork({
    runningMax: 1,
    waitingMax: WAITING_MAX,
    refusal: 'rate_limited',
  })
  const kept = new Map<string, KeptPreview>()
  const derive = (checkId: string, input: ConfigurationInput) =>
    work.run(async () => {
      const at = clock.now()
      return { at, impact: await previewConfiguration(db, checkId, input, at) }
    })
  const forget = (key: string, one: KeptPreview) => {
    if (kept.get(key) === one) kept.delete(key)
  }
  const isFresh = ({ doneAt }: KeptPreview) =>
    doneAt === null || Math.abs(clock.now().getTime() - doneAt) < freshMs
  const begin = (key: string, checkId: string, input: ConfigurationInput) => {
    const one: KeptPreview = { preview: derive(checkId, input), doneAt: null }
    kept.set(key, one)
    one.preview.then(
      () => {
        one.doneAt = clock.now().getTime()
        // What is done is let go once nobody is to see it any more.
        setTimeout(() => forget(key, one), freshMs).unref()
      },
      () => forget(key, one),
    )
    const done = [...kept].filter(([, { doneAt }]) => doneAt !== null)
    for (const [oldKey, old] of done.slice(0, Math.max(0, kept.size - KEPT_MAX))) {
      forget(oldKey, old)
    }
    return one.preview
  }
  return async (checkId, input) => {
    // A preview of a configuration that was changed since is another one.
    const present = await getCheckConfiguration(db, checkId)
    const key = JSON.stringify([checkId, present, Object.entries(input).sort()])
    const known = kept.get(key)
    if (known !== undefined && isFresh(known)) return known.preview
    kept.delete(key)
    return begin(key, checkId, input)
  }
}
