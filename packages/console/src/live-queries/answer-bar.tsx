/* How many devices have answered: a bar, and the figures. */
import type { LiveQueryCampaign } from '../api/generated/types.gen.ts'
import classes from './live-queries.module.css'
import { countAsked } from './campaign-state.tsx'
import { texts } from './texts.ts'

export function AnswerBar({ campaign }: { readonly campaign: LiveQueryCampaign }) {
  const all = countAsked(campaign)
  if (all === 0) return <span>–</span>
  const { successful_devices_count: answered, errored_devices_count: failed } = campaign
  const label = `${texts.answered} ${answered}, ${texts.failed} ${failed}, ${texts.waiting} ${campaign.waiting_devices_count}`
  return (
    <span className={classes.answers} title={label}>
      <svg className={classes.bar} viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden>
        <rect width="100" height="6" className={classes.barGround} />
        <rect width={(100 * answered) / all} height="6" className={classes.barGood} />
        <rect
          x={(100 * answered) / all}
          width={(100 * failed) / all}
          height="6"
          className={classes.barBad}
        />
      </svg>
      <span>
        {answered + failed} / {all}
      </span>
    </span>
  )
}
