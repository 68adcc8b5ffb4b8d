import { CheckCircleFillIcon } from '@primer/octicons-react'
import type { Overview } from '../api/generated/types.gen.ts'
import { ListLink } from '../kit/list-link.tsx'
import { Section } from '../kit/page.tsx'
import { Time } from '../kit/time.tsx'
import { StateBadge } from '../kit/tone.tsx'
import classes from './now.module.css'
import { texts } from './texts.ts'

type Ailing = NonNullable<Overview['streams']>[number]

interface SignalHealthProps {
  readonly streams: readonly Ailing[]
  readonly webhooks: readonly Ailing[]
}

/** Which streams and webhooks do not deliver, since when and why. */
export function SignalHealth({ streams, webhooks }: SignalHealthProps) {
  const isWell = streams.length + webhooks.length === 0
  return (
    <Section title={texts.signals}>
      {isWell ? (
        <ListLink to="/signals/streams" className={classes.well}>
          <CheckCircleFillIcon size={16} />
          {texts.signalsWell}
        </ListLink>
      ) : (
        <ul className={classes.lines}>
          {streams.map((each) => (
            <Destination key={each.id} kind="stream" ailing={each} />
          ))}
          {webhooks.map((each) => (
            <Destination key={each.id} kind="webhook" ailing={each} />
          ))}
        </ul>
      )}
    </Section>
  )
}

interface DestinationProps {
  readonly kind: 'stream' | 'webhook'
  readonly ailing: Ailing
}

function Destination({ kind, ailing }: DestinationProps) {
  const reason = ailing.stop_reason ?? ailing.last_failure
  return (
    <li className={classes.ailing}>
      <ListLink to={`/signals/${kind}s/${ailing.id}`} className={classes.line}>
        <StateBadge tone={ailing.state === 'failing' ? 'warn' : 'bad'} isPlain>
          {ailing.state === 'failing' ? texts.failingWord : texts.stoppedWord}
        </StateBadge>
        <span className={classes.clip}>{ailing.name}</span>
        <span className={classes.when}>
          {ailing.failing_since === null ? texts[kind] : <Time at={ailing.failing_since} />}
        </span>
      </ListLink>
      {reason === null ? null : <p className={classes.reason}>{reason}</p>}
    </li>
  )
}
