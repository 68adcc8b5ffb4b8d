/* Where the time of an attempt went, as a bar and in figures. */
import type { DeliveryAttempt } from '../api/generated/types.gen.ts'
import { formatDuration } from '../streams/format.ts'
import classes from './phases.module.css'
import { texts } from './texts.ts'

const { phases: words } = texts
type Phase = 'dns' | 'connect' | 'tls' | 'first_byte' | 'rest'

/** Milliseconds of each phase that there was; what no phase accounts for is the rest. */
function partsOf(duration: DeliveryAttempt['duration']): readonly (readonly [Phase, number])[] {
  const measured = [
    ['dns', duration.dns_ms],
    ['connect', duration.connect_ms],
    ['tls', duration.tls_ms],
    ['first_byte', duration.first_byte_ms],
  ] as const
  const sum = measured.reduce((total, [, ms]) => total + (ms ?? 0), 0)
  return [...measured, ['rest', Math.max(0, duration.total_ms - sum)] as const].flatMap(
    ([phase, ms]) => (ms === null || ms < 0.05 ? [] : [[phase, ms] as const]),
  )
}

interface PhasesProps {
  readonly duration: DeliveryAttempt['duration']
  /** How long it waited before it was begun, in milliseconds. */
  readonly waitedMs: number | null
}

export function Phases({ duration, waitedMs }: PhasesProps) {
  const parts = partsOf(duration)
  const told = parts.map(([phase, ms]) => `${words[phase]} ${formatDuration(ms)}`).join(', ')
  return (
    <div className={classes.phases}>
      <div className={classes.bar} role="img" aria-label={`${words.times}: ${told}`}>
        {parts.map(([phase, ms]) => (
          <span key={phase} data-phase={phase} style={{ flexGrow: ms }} />
        ))}
      </div>
      <dl className={classes.figures}>
        {waitedMs === null ? null : (
          <div>
            <dt>{words.waited}</dt>
            <dd>{formatDuration(waitedMs)}</dd>
          </div>
        )}
        {parts.map(([phase, ms]) => (
          <div key={phase} data-phase={phase}>
            <dt>{words[phase]}</dt>
            <dd>{formatDuration(ms)}</dd>
          </div>
        ))}
        <div>
          <dt>{words.total}</dt>
          <dd>{formatDuration(duration.total_ms)}</dd>
        </div>
      </dl>
    </div>
  )
}
