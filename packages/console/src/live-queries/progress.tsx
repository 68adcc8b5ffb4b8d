/* How far a live query has come: a bar over its devices, and the figures. */
import type { LiveQueryCampaign } from '../api/generated/types.gen.ts'
import { formatCount } from '../kit/figures.ts'
import { Section } from '../kit/page.tsx'
import { countAsked } from './campaign-state.tsx'
import classes from './live-queries.module.css'
import { texts } from './texts.ts'

export function Progress({ campaign }: { readonly campaign: LiveQueryCampaign }) {
  const all = countAsked(campaign)
  if (all === 0) return null
  const { successful_devices_count: answered, errored_devices_count: failed } = campaign
  const share = (devices: number) => (100 * devices) / all
  const figures = [
    [texts.answered, answered],
    [texts.failed, failed],
    [texts.waiting, campaign.waiting_devices_count],
  ] as const
  return (
    <Section title={texts.progressTitle}>
      <svg className={classes.wideBar} viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden>
        <rect width="100" height="8" className={classes.barGround} />
        <rect width={share(answered)} height="8" className={classes.barGood} />
        <rect x={share(answered)} width={share(failed)} height="8" className={classes.barBad} />
      </svg>
      <div className={classes.figures}>
        {figures.map(([label, devices]) => (
          <span key={label}>
            <b>{formatCount(devices)}</b> {label.toLowerCase()}
          </span>
        ))}
      </div>
    </Section>
  )
}
