import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Overview } from '../api/generated/types.gen.ts'
import { StrategyBadge } from '../checks/strategy-badge.tsx'
import { ListLink } from '../kit/list-link.tsx'
import { Section } from '../kit/page.tsx'
import classes from './now.module.css'
import { texts } from './texts.ts'

/** The checks that most devices fail, with what each does about it. */
export function FailingChecks({ checks }: { readonly checks: Overview['failing_checks'] }) {
  const failing = checks.filter(({ failing_count: count }) => count > 0)
  return (
    <Section
      title={texts.checks}
      lead={failing.length === 0 ? texts.checksNone : texts.checksLead}
      actions={
        <Anchor component={Link} to="/checks" size="sm">
          {texts.allChecks}
        </Anchor>
      }
      isFlush
    >
      <ul className={classes.checks}>
        {failing.map((check) => {
          const all = check.failing_count + check.passing_count
          const share = all === 0 ? 0 : (check.failing_count / all) * 100
          return (
            <li key={check.id} className={classes.check}>
              <div className={classes.checkHead}>
                <ListLink to={`/checks/${check.id}`} className={classes.checkName}>
                  {check.name}
                </ListLink>
                <StrategyBadge strategy={check.remediation_strategy} />
              </div>
              <ListLink
                to={`/checks/${check.id}/results`}
                query="status:failing"
                className={classes.share}
              >
                <span className={classes.track} aria-hidden>
                  <span style={{ width: `${Math.max(share, 1)}%` }} />
                </span>
                <span className={classes.shareText}>
                  {texts.ofDevices(check.failing_count, all, check.target_type)}
                </span>
              </ListLink>
            </li>
          )
        })}
      </ul>
    </Section>
  )
}
